#include "troupe/actors/half_open.hpp"

#include "troupe/actors/io_loop.hpp"
#include "troupe/actors/tls_stream.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds between_warnings{1};

// "10.0.0.7:41234"
std::string address_of_peer(int socket) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  char text[INET6_ADDRSTRLEN] = "an unknown address";
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return text;
  if (at.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(at);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return concat(text, ':', ntohs(v4.sin_port));
  }
  if (at.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(at);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return concat('[', text, "]:", ntohs(v6.sin6_port));
  }
  return text;
}

bool begins_as_frame(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>(frame_magic >> (8 * i)))
      return false;
  return true;
}

class waiting_connections;

// One that has come.
class waiting_connection final : public socket_handler {
public:
  waiting_connection(std::shared_ptr<waiting_connections> of, std::unique_ptr<byte_stream> stream)
      : of_(std::move(of)), id_(stream->id()), peer_(address_of_peer(id_)),
        plain_(std::move(stream)) {}

  int id() const noexcept { return id_; }
  size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override;
  void tick(clock::time_point now) override;
  void removed() override;
  void drop(const status& why);

  std::list<std::shared_ptr<waiting_connection>>::iterator place; // the owner's

private:
  result<handshake_state> go_on();
  byte_stream& stream() { return tls_ ? *tls_ : *plain_; }

  const std::shared_ptr<waiting_connections> of_;
  const int id_;
  const std::string peer_; // its address, which the system forgets when it has gone
  std::unique_ptr<byte_stream> plain_; // until its first bytes have come
  std::unique_ptr<tls_stream> tls_;
  bool over_ = false, passes_ = false, wants_writable_ = false;
};

class waiting_connections final : public half_open_connections,
                                  public std::enable_shared_from_this<waiting_connections> {
public:
  waiting_connections(std::shared_ptr<io_loop> loop, half_open_options options)
      : loop_(std::move(loop)), options_(std::move(options)) {}

  void add(std::unique_ptr<byte_stream> stream) override {
    auto made = std::make_shared<waiting_connection>(shared_from_this(), std::move(stream));
    std::shared_ptr<waiting_connection> oldest;
    {
      std::lock_guard guard{mutex_};
      if (closed_)
        return;
      if (all_.size() >= options_.max)
        oldest = all_.front();
      made->place = all_.insert(all_.end(), made);
    }
    if (oldest)
      oldest->drop(failure(error_kind::resource_exhausted, "it was the oldest of ", options_.max,
                           " connections that had not proven who they are"));
    auto& handler = *made;
    loop_->add(handler.id(), handler, options_.patience, std::move(made));
  }

  void close() override {
    std::function<void(std::unique_ptr<byte_stream>)> last; // goes when the lock is free
    std::lock_guard guard{mutex_};
    closed_ = true;
    last.swap(options_.on_ready);
    for (const auto& one : all_)
      loop_->remove(one->id());
  }

  size_t size() const override {
    std::lock_guard guard{mutex_};
    return all_.size();
  }

  // -- of one of them

  io_loop& loop() { return *loop_; }
  const half_open_options& options() const { return options_; }

  void leave(waiting_connection& which) {
    std::lock_guard guard{mutex_};
    all_.erase(which.place);
  }

  void pass(std::unique_ptr<byte_stream> stream) {
    std::function<void(std::unique_ptr<byte_stream>)> take;
    {
      std::lock_guard guard{mutex_};
      take = options_.on_ready;
    }
    if (take)
      take(std::move(stream));
  }

  void warn(const std::string& peer, const status& why) {
    if (!options_.on_warning)
      return;
    auto now = clock::now();
    if (now < next_warning_) {
      ++unsaid_;
      return;
    }
    next_warning_ = now + between_warnings;
    auto more = std::exchange(unsaid_, 0);
    options_.on_warning(concat("a connection from ", peer, " was refused: ", why.message(),
                               more ? concat(" (and ", more, " others meanwhile)") : ""));
  }

private:
  const std::shared_ptr<io_loop> loop_;
  half_open_options options_;
  mutable std::mutex mutex_; // of what follows, and of options_.on_ready
  std::list<std::shared_ptr<waiting_connection>> all_;
  bool closed_ = false;
  // The loop's thread's own:
  clock::time_point next_warning_{};
  size_t unsaid_ = 0;
};

result<handshake_state> waiting_connection::go_on() {
  if (!tls_) {
    std::array<std::byte, 4> first{};
    auto came = ::recv(id_, first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT);
    if (came == 0)
      return failure(error_kind::unavailable, "it closed the connection");
    if (came < 0)
      return handshake_state::needs_input;
    if (begins_as_frame(std::span{first}.first(static_cast<size_t>(came)))) {
      auto why = failure(error_kind::failed_precondition,
                         "connections to this task are over TLS; give a certificate, a key and an "
                         "authority");
      auto bytes = refusal_frame(why);
      iovec place{bytes.data(), bytes.size()};
      [[maybe_unused]] auto sent = plain_->write({&place, 1});
      return failure(error_kind::failed_precondition, "it speaks without TLS");
    }
    tls_ = answer_over_tls(std::move(plain_), of_->options().tls);
  }
  return tls_->shake_hands();
}

size_t waiting_connection::ready(bool, bool, std::span<std::byte>) {
  if (over_)
    return 0;
  result<handshake_state> state = handshake_state::needs_input;
  try {
    state = go_on();
  } catch (const std::exception& thrown) {
    state = failure(error_kind::resource_exhausted, thrown.what());
  }
  if (!state) {
    drop(state.status());
  } else if (*state == handshake_state::done) {
    over_ = passes_ = true;
    of_->loop().remove(id_);
  } else if (auto wants = *state == handshake_state::needs_output; wants != wants_writable_) {
    wants_writable_ = wants;
    of_->loop().want_writable(id_, wants);
  }
  return 0;
}

void waiting_connection::tick(clock::time_point) {
  drop(failure(error_kind::deadline_exceeded, "it has not proven who it is within ",
               of_->options().patience.count(), " ms"));
}

void waiting_connection::drop(const status& why) {
  if (std::exchange(over_, true))
    return;
  of_->warn(peer_, why);
  stream().end_writing();
  of_->loop().remove(id_);
}

// The loop has forgotten it: another one may watch it now.
void waiting_connection::removed() {
  of_->leave(*this);
  if (passes_)
    return of_->pass(std::move(tls_));
  stream().drop_input(); // what was not read would make the other end lose what was written
  plain_.reset();
  tls_.reset();
}

} // namespace

std::shared_ptr<half_open_connections> half_open_connections::make(std::shared_ptr<io_loop> loop,
                                                                   half_open_options options) {
  return std::make_shared<waiting_connections>(std::move(loop), std::move(options));
}

std::vector<std::byte> refusal_frame(const status& why) {
  std::vector<std::byte> all;
  if (auto body = encode(refusal{why})) {
    auto header = header_for(frame_kind::message, 0, body->bytes);
    all.assign(header.begin(), header.end());
    all.insert(all.end(), body->bytes.begin(), body->bytes.end());
  }
  return all;
}

} // namespace troupe
