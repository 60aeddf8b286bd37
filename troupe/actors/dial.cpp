#include "troupe/actors/dial.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe {
namespace {

int milliseconds_until(step_clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - step_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
}

// Nobody may have to wait longer for us to notice that we should stop.
constexpr std::chrono::milliseconds longest_wait{200};

status broken(int code) { return failure(error_kind::unavailable, std::strerror(code)); }

result<socket_handle> attempt(const addrinfo& at, step_clock::time_point deadline,
                              const std::atomic<bool>& stop) {
  socket_handle made{::socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (made.get() < 0)
    return broken(errno);
  if (::connect(made.get(), at.ai_addr, at.ai_addrlen) == 0)
    return made;
  if (errno != EINPROGRESS)
    return broken(errno);
  pollfd wait{made.get(), POLLOUT, 0};
  while (!stop && step_clock::now() < deadline) {
    auto slice = std::min(deadline, step_clock::now() + longest_wait);
    if (::poll(&wait, 1, milliseconds_until(slice)) <= 0)
      continue;
    int problem = 0;
    socklen_t size = sizeof(problem);
    ::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem == 0)
      return made;
    return broken(problem);
  }
  return broken(ETIMEDOUT);
}

struct addresses {
  addrinfo* first = nullptr;
  ~addresses() {
    if (first)
      ::freeaddrinfo(first);
  }
};

status resolve(const address& what, int flags, addresses& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  if (int problem =
          ::getaddrinfo(what.host.c_str(), std::to_string(what.port).c_str(), &hints, &found.first))
    return failure(error_kind::unavailable, "cannot resolve ", what.host, ": ",
                   ::gai_strerror(problem));
  return {};
}

} // namespace

result<address> address::parse(std::string_view text) {
  auto colon = text.rfind(':');
  address found;
  if (colon != text.npos) {
    auto host = text.substr(0, colon), port = text.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
      host = host.substr(1, host.size() - 2);
    auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), found.port);
    if (problem == std::errc{} && end == port.data() + port.size() && !host.empty()) {
      found.host = host;
      return found;
    }
  }
  return invalid("'", text, "' is no address; write host:port");
}

std::string to_string(const address& what) {
  return what.host.find(':') == std::string::npos ? concat(what.host, ':', what.port)
                                                  : concat('[', what.host, "]:", what.port);
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

socket_handle& socket_handle::operator=(socket_handle&& other) noexcept {
  socket_handle old{std::exchange(descriptor_, other.release())};
  return *this;
}

socket_handle::~socket_handle() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

result<socket_handle> dial(const address& to, step_clock::time_point deadline,
                           const std::atomic<bool>& stop) {
  addresses found;
  TROUPE_TRY(resolve(to, 0, found));
  auto pause = std::chrono::milliseconds{20};
  for (;;) {
    status last;
    for (auto* at = found.first; at; at = at->ai_next) {
      auto made = attempt(*at, deadline, stop);
      if (made)
        return made;
      last = made.status();
    }
    if (stop || step_clock::now() + pause >= deadline)
      return failure(error_kind::unavailable, "cannot connect to ", to_string(to), ": ",
                     last.message());
    std::this_thread::sleep_for(pause); // on a detached actor's thread, for a bounded time
    pause = std::min(pause * 2, longest_wait);
  }
}

result<std::pair<socket_handle, uint16_t>> listen_at(const address& at) {
  addresses found;
  TROUPE_TRY(resolve(at, AI_PASSIVE, found));
  socket_handle made{
      ::socket(found.first->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  int yes = 1;
  ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(made.get(), found.first->ai_addr, found.first->ai_addrlen) != 0 ||
      ::listen(made.get(), SOMAXCONN) != 0)
    return failure(error_kind::unavailable, "cannot listen at ", to_string(at), ": ",
                   std::strerror(errno));
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  ::getsockname(made.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  auto port = bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(bound).sin_port;
  return std::pair{std::move(made), ntohs(port)};
}

} // namespace troupe
