#include "troupe/actors/network/near_memory.hpp"

#include "troupe/actors/network/dial.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace troupe {
namespace {

// As /proc/net/tcp writes it.
std::string in_hex(const sockaddr_storage& what) {
  char text[64] = "";
  if (what.ss_family == AF_INET) {
    const auto& at = reinterpret_cast<const sockaddr_in&>(what);
    std::snprintf(text, sizeof text, "%08X:%04X", at.sin_addr.s_addr, ntohs(at.sin_port));
  } else if (what.ss_family == AF_INET6) {
    const auto& at = reinterpret_cast<const sockaddr_in6&>(what);
    uint32_t words[4];
    std::memcpy(words, &at.sin6_addr, sizeof words);
    std::snprintf(text, sizeof text, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2],
                  words[3], ntohs(at.sin6_port));
  }
  return text;
}

uint16_t write_address(const sockaddr_storage& what, void* to) {
  if (what.ss_family == AF_INET6) {
    const auto& at = reinterpret_cast<const sockaddr_in6&>(what);
    std::memcpy(to, &at.sin6_addr, sizeof at.sin6_addr);
    return at.sin6_port;
  }
  const auto& at = reinterpret_cast<const sockaddr_in&>(what);
  std::memcpy(to, &at.sin_addr, sizeof at.sin_addr);
  return at.sin_port;
}

// The inode of that one connection. 0: there is none, or the system answers no such questions.
uint64_t inode_by_diagnosis(const sockaddr_storage& from, const sockaddr_storage& to) {
  struct {
    nlmsghdr header{};
    inet_diag_req_v2 what{};
  } question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.what.sdiag_family = static_cast<uint8_t>(from.ss_family);
  question.what.sdiag_protocol = IPPROTO_TCP;
  question.what.idiag_states = ~0u;
  auto& id = question.what.id;
  id.idiag_sport = write_address(from, id.idiag_src);
  id.idiag_dport = write_address(to, id.idiag_dst);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  socket_handle asks{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
  alignas(nlmsghdr) std::byte answer[4096];
  if (asks.get() < 0 || ::send(asks.get(), &question, sizeof question, 0) < 0)
    return 0;
  auto came = ::recv(asks.get(), answer, sizeof answer, MSG_DONTWAIT); // it is there by now
  nlmsghdr header;
  inet_diag_msg found;
  if (came < static_cast<ssize_t>(NLMSG_LENGTH(sizeof found)))
    return 0;
  std::memcpy(&header, answer, sizeof header);
  std::memcpy(&found, answer + NLMSG_HDRLEN, sizeof found);
  return header.nlmsg_type == SOCK_DIAG_BY_FAMILY ? found.idiag_inode : 0;
}

// The inode of the other end of a connection within this machine; 0: there is none.
uint64_t other_end_of(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
    return 0;
  if (auto inode = inode_by_diagnosis(peer, own))
    return inode;
  // All connections of the machine, which takes milliseconds.
  std::ifstream all{own.ss_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp"};
  auto wanted = " " + in_hex(peer) + " " + in_hex(own) + " ";
  for (std::string line; std::getline(all, line);) {
    auto at = line.find(wanted);
    if (at == line.npos)
      continue;
    uint64_t inode = 0; // behind state, queues, timer, retransmits, user and time-out
    auto rest = line.substr(at + wanted.size());
    if (std::sscanf(rest.c_str(), "%*s %*s %*s %*s %*s %*s %" SCNu64, &inode) == 1)
      return inode;
  }
  return 0;
}

bool is_of_our_user(pid_t process) {
  struct stat found {};
  return ::stat(concat("/proc/", process).c_str(), &found) == 0 && found.st_uid == ::geteuid();
}

bool has_open(pid_t process, uint64_t inode) {
  auto folder = concat("/proc/", process, "/fd/");
  auto wanted = concat("socket:[", inode, "]");
  auto* list = ::opendir(folder.c_str());
  if (!list)
    return false;
  bool found = false;
  while (const auto* entry = found ? nullptr : ::readdir(list)) {
    char target[64];
    auto size = ::readlink((folder + entry->d_name).c_str(), target, sizeof target);
    found = size > 0 && std::string_view{target, static_cast<size_t>(size)} == wanted;
  }
  ::closedir(list);
  return found;
}

} // namespace

// A machine calls itself from the address that it calls.
bool near_memory::within_machine(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
    return false;
  auto host = [](const sockaddr_storage& what) {
    auto text = in_hex(what);
    return text.substr(0, text.find(':'));
  };
  return own.ss_family == peer.ss_family && !host(own).empty() && host(own) == host(peer);
}

std::optional<near_memory> near_memory::find(int socket, const hello& peer) {
  if (peer.process == 0 || peer.process > uint32_t{std::numeric_limits<pid_t>::max()})
    return std::nullopt;
  near_memory made{static_cast<pid_t>(peer.process), peer};
  auto inode = other_end_of(socket);
  if (inode == 0 || !is_of_our_user(made.process_) || !has_open(made.process_, inode))
    return std::nullopt;
  if (std::byte none; !made.read({&none, 0}, 0)) // it may be forbidden
    return std::nullopt;
  return made;
}

status near_memory::read(std::span<std::byte> to, uint64_t from) const {
  std::array<uint64_t, 2> token{};
  // In this order: the token is still there after the rest was read.
  iovec local[] = {{to.data(), to.size()}, {token.data(), sizeof token}};
  iovec remote[] = {{reinterpret_cast<void*>(from), to.size()},
                    {reinterpret_cast<void*>(token_at_), sizeof token}};
  auto came = ::process_vm_readv(process_, local, 2, remote, 2, 0);
  if (came < 0 && errno == ESRCH)
    return failure(error_kind::unavailable, "its process has ended");
  if (came < 0 && errno != EFAULT)
    return failure(error_kind::unavailable, "its memory cannot be read: ", std::strerror(errno));
  if (came < static_cast<ssize_t>(to.size()))
    return invalid("it has lent ", to.size(), " bytes of memory that it does not have");
  if (token != token_)
    return failure(error_kind::unavailable, "it has ended the connection");
  return {};
}

} // namespace troupe
