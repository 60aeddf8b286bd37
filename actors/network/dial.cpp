#include "troupe/actors/network/dial.hpp"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
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
// The system asks a host that does not answer again after 1, 2, 4, 8 and 16 s: where a network has
// come back meanwhile, a fresh socket is there sooner, and an address behind a dead one is tried.
constexpr std::chrono::seconds longest_attempt{2};

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
  addresses() = default;
  addresses(const addresses&) = delete;
  addresses& operator=(const addresses&) = delete;
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

// Where a name server is silent, resolving takes as long as it likes: the thread that does it is
// left behind then.
class resolution {
public:
  explicit resolution(const address& what) : shared_(std::make_shared<shared>()) {
    shared_->done = resolve(what, AI_NUMERICHOST, shared_->found).ok();
    if (shared_->done)
      return; // no name server is asked
    std::thread{[what, to = shared_] {
      auto outcome = resolve(what, 0, to->found);
      std::lock_guard guard{to->mutex};
      to->outcome = std::move(outcome);
      to->done = true;
      to->changed.notify_all();
    }}.detach();
  }

  // What was found, which lives as long as this; nothing while it is not known.
  result<const addrinfo*> wait(step_clock::time_point deadline, const std::atomic<bool>& stop) {
    std::unique_lock lock{shared_->mutex};
    while (!shared_->done && !stop && step_clock::now() < deadline)
      shared_->changed.wait_until(lock, std::min(deadline, step_clock::now() + longest_wait));
    if (!shared_->done)
      return failure(error_kind::unavailable, "the name was not resolved in time");
    if (!shared_->outcome)
      return shared_->outcome;
    return static_cast<const addrinfo*>(shared_->found.first);
  }

private:
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    addresses found;
    status outcome;
    bool done = false;
  };
  std::shared_ptr<shared> shared_;
};

// A caller on loopback may be given the port that it calls, and be connected to itself.
bool connected_to_itself(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         own_size == peer_size && std::memcmp(&own, &peer, own_size) == 0;
}

result<socket_handle> attempt_each(const addrinfo* at, step_clock::time_point deadline,
                                   const std::atomic<bool>& stop) {
  status last = failure(error_kind::unavailable, "it has no address");
  for (; at; at = at->ai_next) {
    auto made = attempt(*at, std::min(deadline, step_clock::now() + longest_attempt), stop);
    if (made && !connected_to_itself(made->get()))
      return made;
    last = made ? failure(error_kind::unavailable, "no process listens there") : made.status();
  }
  return last;
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
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1)
    return (ntohl(v4.s_addr) >> 24) == 127;
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1)
    return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
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
                           const std::atomic<bool>& stop, bool once) {
  auto pause = std::chrono::milliseconds{20};
  for (;;) {
    // Each time: whoever comes back may have another address.
    resolution names{to};
    auto found = names.wait(deadline, stop);
    auto made =
        found ? attempt_each(*found, deadline, stop) : result<socket_handle>{found.status()};
    if (made)
      return made;
    auto last = made.status();
    if (stop || once || step_clock::now() + pause >= deadline)
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
