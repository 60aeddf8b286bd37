#include "troupe/actors/network/process_memory_reader.hpp"

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

// Formats an address as /proc/net/tcp does.
std::string in_hex(const sockaddr_storage& endpoint) {
  char text[64] = "";
  if (endpoint.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(endpoint);
    std::snprintf(text, sizeof text, "%08X:%04X", v4.sin_addr.s_addr, ntohs(v4.sin_port));
  } else if (endpoint.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(endpoint);
    uint32_t words[4];
    std::memcpy(words, &v6.sin6_addr, sizeof words);
    std::snprintf(text, sizeof text, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2],
                  words[3], ntohs(v6.sin6_port));
  }
  return text;
}

uint16_t write_address(const sockaddr_storage& endpoint, void* target) {
  if (endpoint.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(endpoint);
    std::memcpy(target, &v6.sin6_addr, sizeof v6.sin6_addr);
    return v6.sin6_port;
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(endpoint);
  std::memcpy(target, &v4.sin_addr, sizeof v4.sin_addr);
  return v4.sin_port;
}

// Returns the inode of that connection, from the kernel's socket diagnosis; 0 if there is none, or
// the system does not support that.
uint64_t inode_by_diagnosis(const sockaddr_storage& from, const sockaddr_storage& to) {
  struct {
    nlmsghdr header{};
    inet_diag_req_v2 query{};
  } request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.query.sdiag_family = static_cast<uint8_t>(from.ss_family);
  request.query.sdiag_protocol = IPPROTO_TCP;
  request.query.idiag_states = ~0u;
  auto& id = request.query.id;
  id.idiag_sport = write_address(from, id.idiag_src);
  id.idiag_dport = write_address(to, id.idiag_dst);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  socket_handle netlink{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
  alignas(nlmsghdr) std::byte answer[4096];
  if (netlink.get() < 0 || ::send(netlink.get(), &request, sizeof request, 0) < 0)
    return 0;
  // The kernel answers before send() returns.
  auto received = ::recv(netlink.get(), answer, sizeof answer, MSG_DONTWAIT);
  nlmsghdr header;
  inet_diag_msg reply;
  if (received < static_cast<ssize_t>(NLMSG_LENGTH(sizeof reply)))
    return 0;
  std::memcpy(&header, answer, sizeof header);
  std::memcpy(&reply, answer + NLMSG_HDRLEN, sizeof reply);
  return header.nlmsg_type == SOCK_DIAG_BY_FAMILY ? reply.idiag_inode : 0;
}

// Returns the inode of the other end of a connection within this machine; 0 if there is none.
uint64_t other_end_of(int socket) {
  sockaddr_storage local{}, peer{};
  socklen_t local_size = sizeof local, peer_size = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &local_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
    return 0;
  if (auto inode = inode_by_diagnosis(peer, local))
    return inode;
  // Searches all connections of the machine, which takes milliseconds.
  std::ifstream connections{local.ss_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp"};
  auto pattern = " " + in_hex(peer) + " " + in_hex(local) + " ";
  for (std::string line; std::getline(connections, line);) {
    auto position = line.find(pattern);
    if (position == line.npos)
      continue;
    uint64_t inode = 0; // follows state, queues, timer, retransmits, user and timeout
    auto fields = line.substr(position + pattern.size());
    if (std::sscanf(fields.c_str(), "%*s %*s %*s %*s %*s %*s %" SCNu64, &inode) == 1)
      return inode;
  }
  return 0;
}

bool is_of_our_user(pid_t process) {
  struct stat info {};
  return ::stat(concat("/proc/", process).c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

bool has_open(pid_t process, uint64_t inode) {
  auto folder = concat("/proc/", process, "/fd/");
  auto link_target = concat("socket:[", inode, "]");
  auto* directory = ::opendir(folder.c_str());
  if (!directory)
    return false;
  bool is_open = false;
  while (const auto* entry = is_open ? nullptr : ::readdir(directory)) {
    char target[64];
    auto size = ::readlink((folder + entry->d_name).c_str(), target, sizeof target);
    is_open = size > 0 && std::string_view{target, static_cast<size_t>(size)} == link_target;
  }
  ::closedir(directory);
  return is_open;
}

} // namespace

// A machine connects to itself from the address that it connects to.
bool process_memory_reader::within_machine(int socket) {
  sockaddr_storage local{}, peer{};
  socklen_t local_size = sizeof local, peer_size = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &local_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
    return false;
  auto host = [](const sockaddr_storage& endpoint) {
    auto text = in_hex(endpoint);
    return text.substr(0, text.find(':'));
  };
  return local.ss_family == peer.ss_family && !host(local).empty() && host(local) == host(peer);
}

std::optional<process_memory_reader> process_memory_reader::find(int socket, const hello& peer) {
  if (peer.process_id == 0 || peer.process_id > uint32_t{std::numeric_limits<pid_t>::max()})
    return std::nullopt;
  process_memory_reader memory{static_cast<pid_t>(peer.process_id), peer};
  auto inode = other_end_of(socket);
  if (inode == 0 || !is_of_our_user(memory.process_) || !has_open(memory.process_, inode))
    return std::nullopt;
  if (std::byte probe; !memory.read({&probe, 0}, 0)) // the system may forbid it
    return std::nullopt;
  return memory;
}

status process_memory_reader::read(std::span<std::byte> to, uint64_t from) const {
  std::array<uint64_t, 2> token{};
  // The token is read last: if it is there, the peer had not ended the connection before the read.
  iovec local[] = {{to.data(), to.size()}, {token.data(), sizeof token}};
  iovec remote[] = {{reinterpret_cast<void*>(from), to.size()},
                    {reinterpret_cast<void*>(token_at_), sizeof token}};
  auto received = ::process_vm_readv(process_, local, 2, remote, 2, 0);
  if (received < 0 && errno == ESRCH)
    return failure(error_kind::unavailable, "its process has ended");
  if (received < 0 && errno != EFAULT)
    return failure(error_kind::unavailable, "its memory cannot be read: ", std::strerror(errno));
  if (received < static_cast<ssize_t>(to.size()))
    return invalid("it has lent ", to.size(), " bytes of memory that it does not have");
  if (token != token_)
    return failure(error_kind::unavailable, "it has ended the connection");
  return {};
}

} // namespace troupe
