#include "troupe/actors/network/dial.hpp"

#include "troupe/actors/network/sockets.hpp"

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

// The longest time until a change of `stop` is noticed.
constexpr std::chrono::milliseconds max_poll_wait{200};
// The system repeats an unanswered connect after 1, 2, 4, 8 and 16 s. A new socket connects sooner
// after a network has recovered, and another address is tried after a dead one.
constexpr std::chrono::seconds max_connect_time{2};

status connect_error(int code) { return failure(error_kind::unavailable, std::strerror(code)); }

result<socket_handle> attempt(const addrinfo& candidate, step_clock::time_point deadline,
                              const std::atomic<bool>& stop) {
  socket_handle socket{
      ::socket(candidate.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (socket.get() < 0)
    return connect_error(errno);
  if (::connect(socket.get(), candidate.ai_addr, candidate.ai_addrlen) == 0)
    return socket;
  if (errno != EINPROGRESS)
    return connect_error(errno);
  pollfd wait{socket.get(), POLLOUT, 0};
  while (!stop && step_clock::now() < deadline) {
    auto slice = std::min(deadline, step_clock::now() + max_poll_wait);
    if (::poll(&wait, 1, milliseconds_until(slice)) <= 0)
      continue;
    int failure_code = 0;
    socklen_t size = sizeof(failure_code);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure_code, &size);
    if (failure_code == 0)
      return socket;
    return connect_error(failure_code);
  }
  return connect_error(ETIMEDOUT);
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

status resolve(const address& endpoint, int flags, addresses& resolved) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  if (int failure_code = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(),
                                       &hints, &resolved.first))
    return failure(error_kind::unavailable, "cannot resolve ", endpoint.host, ": ",
                   ::gai_strerror(failure_code));
  return {};
}

// Resolves a name. That can take arbitrarily long if a name server does not answer; then the
// resolving thread is left behind.
class resolution {
public:
  explicit resolution(const address& endpoint) : shared_(std::make_shared<shared>()) {
    shared_->done = resolve(endpoint, AI_NUMERICHOST, shared_->resolved).ok();
    if (shared_->done)
      return; // the host is a numeric address
    std::thread{[endpoint, target = shared_] {
      auto outcome = resolve(endpoint, 0, target->resolved);
      std::lock_guard guard{target->mutex};
      target->outcome = std::move(outcome);
      target->done = true;
      target->changed.notify_all();
    }}.detach();
  }

  // Returns the addresses, which live as long as this object; an error if they are not known in
  // time.
  result<const addrinfo*> wait(step_clock::time_point deadline, const std::atomic<bool>& stop) {
    std::unique_lock lock{shared_->mutex};
    while (!shared_->done && !stop && step_clock::now() < deadline)
      shared_->changed.wait_until(lock, std::min(deadline, step_clock::now() + max_poll_wait));
    if (!shared_->done)
      return failure(error_kind::unavailable, "the name was not resolved in time");
    if (!shared_->outcome)
      return shared_->outcome;
    return static_cast<const addrinfo*>(shared_->resolved.first);
  }

private:
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    addresses resolved;
    status outcome;
    bool done = false;
  };
  std::shared_ptr<shared> shared_;
};

// On loopback, the system may give the connecting socket the port that it connects to, and connect
// it to itself.
bool connected_to_itself(int socket) {
  sockaddr_storage local{}, peer{};
  socklen_t local_size = sizeof local, peer_size = sizeof peer;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &local_size) == 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         local_size == peer_size && std::memcmp(&local, &peer, local_size) == 0;
}

result<socket_handle> attempt_each(const addrinfo* candidate, step_clock::time_point deadline,
                                   const std::atomic<bool>& stop) {
  status last_error = failure(error_kind::unavailable, "it has no address");
  for (; candidate; candidate = candidate->ai_next) {
    auto socket =
        attempt(*candidate, std::min(deadline, step_clock::now() + max_connect_time), stop);
    if (socket && !connected_to_itself(socket->get()))
      return socket;
    last_error =
        socket ? failure(error_kind::unavailable, "no process listens there") : socket.status();
  }
  return last_error;
}

} // namespace

result<address> address::parse(std::string_view text) {
  auto colon = text.rfind(':');
  address parsed;
  if (colon != text.npos) {
    auto host = text.substr(0, colon), port = text.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
      host = host.substr(1, host.size() - 2);
    auto [end, failure_code] = std::from_chars(port.data(), port.data() + port.size(), parsed.port);
    if (failure_code == std::errc{} && end == port.data() + port.size() && !host.empty()) {
      parsed.host = host;
      return parsed;
    }
  }
  return invalid("'", text, "' is not an address; write host:port");
}

std::string to_string(const address& endpoint) {
  return endpoint.host.find(':') == std::string::npos
             ? concat(endpoint.host, ':', endpoint.port)
             : concat('[', endpoint.host, "]:", endpoint.port);
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

result<socket_handle> dial(const address& endpoint, step_clock::time_point deadline,
                           const std::atomic<bool>& stop, bool single_attempt) {
  auto pause = std::chrono::milliseconds{20};
  for (;;) {
    // Resolved in each attempt: a task that restarts may have another address.
    resolution name{endpoint};
    auto resolved = name.wait(deadline, stop);
    auto socket = resolved ? attempt_each(*resolved, deadline, stop)
                           : result<socket_handle>{resolved.status()};
    if (socket)
      return socket;
    auto last_error = socket.status();
    if (stop || single_attempt || step_clock::now() + pause >= deadline)
      return failure(error_kind::unavailable, "cannot connect to ", to_string(endpoint), ": ",
                     last_error.message());
    std::this_thread::sleep_for(pause); // on a detached actor's thread, for a bounded time
    pause = std::min(pause * 2, max_poll_wait);
  }
}

result<std::pair<socket_handle, uint16_t>> listen_at(const address& endpoint) {
  addresses resolved;
  TROUPE_TRY(resolve(endpoint, AI_PASSIVE, resolved));
  // The first address, as a number: CAF would try those of IPv6 first.
  char host[NI_MAXHOST];
  if (int failure_code = ::getnameinfo(resolved.first->ai_addr, resolved.first->ai_addrlen, host,
                                       sizeof host, nullptr, 0, NI_NUMERICHOST))
    return failure(error_kind::unavailable, "cannot resolve ", endpoint.host, ": ",
                   ::gai_strerror(failure_code));
  auto opened = open_listener(host, endpoint.port);
  if (!opened)
    return opened.status().with_context(concat("cannot listen at ", to_string(endpoint)));
  return opened;
}

} // namespace troupe
