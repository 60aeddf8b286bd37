#include "troupe/actors/network/pending_handshakes.hpp"

#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/access_control.hpp"
#include "troupe/actors/network/sockets.hpp"
#include "troupe/actors/network/tls_stream.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include <poll.h>
#include <sys/socket.h>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

// The same limit as in link, which holds until the peer has sent its hello.
constexpr size_t max_hello_bytes = 4096;

bool begins_as_frame(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < std::min(bytes.size(), sizeof frame_magic); ++i)
    if (bytes[i] != static_cast<std::byte>(frame_magic >> (8 * i)))
      return false;
  return true;
}

class handshake_list;

// A connection whose peer has not proven its identity.
class pending_handshake final : public socket_handler {
public:
  pending_handshake(std::shared_ptr<handshake_list> owner, std::unique_ptr<byte_stream> stream)
      : owner_(std::move(owner)), id_(stream->id()), peer_(address_of_peer(id_)),
        plain_(std::move(stream)) {}

  int id() const noexcept { return id_; }
  std::string_view host() const noexcept {
    return std::string_view{peer_}.substr(0, peer_.rfind(':'));
  }
  size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override;
  void tick(clock::time_point now) override;
  void removed() override;
  void drop(const status& why);

  // Of the owner, guarded by its mutex:
  std::list<std::shared_ptr<pending_handshake>>::iterator place;
  bool listed = false;

private:
  result<handshake_state> advance(std::span<std::byte> scratch);
  result<handshake_state> wait_for_hello(std::span<std::byte> scratch);
  result<handshake_state> wait_for_token(std::span<std::byte> scratch);
  result<std::span<const std::byte>> peek(std::span<std::byte> scratch);
  byte_stream& stream() { return tls_ ? *tls_ : *plain_; }

  const std::shared_ptr<handshake_list> owner_;
  const int id_;
  const std::string peer_; // its address, kept because getpeername() fails after the end
  std::unique_ptr<byte_stream> plain_; // until TLS begins
  std::unique_ptr<tls_stream> tls_;
  size_t needed_ = 0;                  // missing bytes of the hello when it was last checked
  bool handshake_is_done_ = false;     // of TLS
  std::vector<std::byte> hello_bytes_; // received over TLS from a peer without a certificate
  bool is_over_ = false, is_accepted_ = false, wants_writable_ = false;
};

// The list of a listener, in the order in which the connections came.
class handshake_list final : public pending_handshakes,
                             public std::enable_shared_from_this<handshake_list> {
public:
  handshake_list(std::shared_ptr<io_loop> loop, pending_handshake_options options)
      : loop_(std::move(loop)), options_(std::move(options)) {}

  void add(std::unique_ptr<byte_stream> stream) override {
    auto connection = std::make_shared<pending_handshake>(shared_from_this(), std::move(stream));
    std::shared_ptr<pending_handshake> oldest;
    {
      std::lock_guard guard{mutex_};
      if (closed_)
        return;
      if (connections_.size() >= options_.max_connections)
        oldest = oldest_of_busiest_host();
      connection->place = connections_.insert(connections_.end(), connection);
      connection->listed = true;
    }
    if (oldest)
      oldest->drop(failure(error_kind::resource_exhausted, "it was the oldest of ",
                           options_.max_connections,
                           " connections that had not proven their identity"));
    try {
      if (auto outcome = loop_->add(connection->id(), *connection, options_.timeout, connection);
          !outcome)
        connection->drop(outcome);
    } catch (const std::exception&) {
      remove(*connection);
      throw;
    }
  }

  void close() override {
    std::function<void(std::unique_ptr<byte_stream>)> released; // released after the lock
    std::lock_guard guard{mutex_};
    closed_ = true;
    released.swap(options_.on_ready);
    for (const auto& connection : connections_)
      loop_->remove(connection->id());
  }

  size_t size() const override {
    std::lock_guard guard{mutex_};
    return connections_.size();
  }

  // -- called by a connection

  io_loop& loop() { return *loop_; }
  const pending_handshake_options& options() const { return options_; }

  // Removes the connection from the list. The loop keeps it until removed().
  void remove(pending_handshake& connection) {
    std::lock_guard guard{mutex_};
    if (std::exchange(connection.listed, false))
      connections_.erase(connection.place);
  }

  void pass(std::unique_ptr<byte_stream> stream) {
    std::function<void(std::unique_ptr<byte_stream>)> on_ready;
    {
      std::lock_guard guard{mutex_};
      on_ready = options_.on_ready;
    }
    if (on_ready)
      on_ready(std::move(stream));
  }

  void report_refused(const std::string& peer, const status& why) {
    if (options_.on_refused)
      options_.on_refused(peer, why);
  }

private:
  // Returns the oldest connection of the host that has most, so that a host that connects
  // repeatedly does not displace others. Called with the lock held.
  std::shared_ptr<pending_handshake> oldest_of_busiest_host() {
    std::map<std::string_view, size_t> counts;
    for (const auto& connection : connections_)
      ++counts[connection->host()];
    auto busiest =
        std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    return *std::ranges::find(connections_, busiest->first,
                              [](const auto& connection) { return connection->host(); });
  }

  const std::shared_ptr<io_loop> loop_;
  pending_handshake_options options_;
  mutable std::mutex mutex_; // guards the members below, and options_.on_ready
  std::list<std::shared_ptr<pending_handshake>> connections_;
  bool closed_ = false;
};

// Returns the number of bytes that must have come before the hello can be read or refused: most
// peers send it at once. 0: enough have come.
size_t missing_of_hello(std::span<const std::byte> received) {
  constexpr size_t size_at = 8;
  auto required = [&](size_t total) { return received.size() < total ? total : 0; };
  if (auto needed = required(frame_header_bytes))
    return needed;
  uint32_t size = 0;
  for (size_t i = 0; i < sizeof size; ++i)
    size |= std::to_integer<uint32_t>(received[size_at + i]) << (8 * i);
  return size > max_hello_bytes ? 0 : required(frame_header_bytes + size);
}

// Returns whether the other end has stopped writing.
bool has_ended(int socket) {
  pollfd query{socket, POLLRDHUP, 0};
  return ::poll(&query, 1, 0) != 0;
}

// Returns the bytes in the socket, without removing them.
result<std::span<const std::byte>> pending_handshake::peek(std::span<std::byte> scratch) {
  auto received = ::recv(id_, scratch.data(), scratch.size(), MSG_PEEK | MSG_DONTWAIT);
  if (received == 0)
    return failure(error_kind::unavailable, "it closed the connection");
  if (received < 0 && errno != EAGAIN && errno != EINTR)
    return failure(error_kind::unavailable, std::strerror(errno));
  return std::span<const std::byte>{scratch.data(),
                                    static_cast<size_t>(std::max<ssize_t>(received, 0))};
}

// Without TLS: waits until the hello is complete.
result<handshake_state> pending_handshake::wait_for_hello(std::span<std::byte> scratch) {
  TROUPE_ASSIGN(auto received, peek(scratch.first(frame_header_bytes + max_hello_bytes)));
  if (begins_as_tls(received)) {
    // A TLS record with the fatal alert "protocol version", because the peer expects TLS.
    std::array<unsigned char, 7> alert{0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46};
    iovec place{alert.data(), alert.size()};
    [[maybe_unused]] auto sent = plain_->write({&place, 1});
    return failure(error_kind::failed_precondition,
                   "it uses TLS, which this task is not configured for");
  }
  if (!begins_as_frame(received))
    return failure(error_kind::invalid_argument, "it does not speak Troupe's protocol");
  auto needed = missing_of_hello(received);
  // The system reports the socket again when it has that many bytes, or at its end; or sooner, if
  // memory is short.
  if (needed > 0 && needed == needed_ && has_ended(id_))
    return failure(error_kind::unavailable, "it ended before its hello");
  needed_ = needed;
  int low = static_cast<int>(std::max<size_t>(needed, 1));
  ::setsockopt(id_, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof low);
  return needed > 0 ? handshake_state::needs_input : handshake_state::done;
}

struct hello_sink final : frame_sink {
  status on_message(std::span<const std::byte> body, uint64_t) override {
    TROUPE_ASSIGN(auto decoded, decode(body));
    if (auto* first = std::get_if<hello>(&decoded))
      received_hello = std::move(*first);
    return {};
  }
  result<std::byte*> chunk_target(uint64_t, size_t) override { return invalid("no chunk"); }
  status on_chunk(uint64_t, size_t) override { return {}; }
  std::optional<hello> received_hello;
};

// Reads the hello from a complete frame.
result<hello> read_hello(std::span<const std::byte> bytes) {
  hello_sink sink;
  frame_reader reader{max_hello_bytes};
  TROUPE_TRY(reader.feed(bytes, sink));
  if (!sink.received_hello)
    return invalid("the peer's first message must be hello");
  return *std::move(sink.received_hello);
}

// Over TLS without a certificate: the peer proves its identity by a token in its hello. Waits until
// that is complete. Later bytes stay in the stream.
result<handshake_state> pending_handshake::wait_for_token(std::span<std::byte> scratch) {
  while (auto needed = missing_of_hello(hello_bytes_)) {
    iovec place{scratch.data(), std::min(scratch.size(), needed - hello_bytes_.size())};
    auto received = tls_->read({&place, 1});
    if (received < 0 && errno == EINTR)
      continue;
    if (received < 0 && errno == EAGAIN)
      return handshake_state::needs_input;
    if (received == 0)
      return failure(error_kind::unavailable, "it ended before its hello");
    if (received < 0)
      return tls_->error_of(errno);
    hello_bytes_.insert(hello_bytes_.end(), scratch.begin(), scratch.begin() + received);
    if (!begins_as_frame(hello_bytes_))
      return failure(error_kind::invalid_argument, "it does not speak Troupe's protocol");
  }
  auto peer_hello = read_hello(hello_bytes_);
  auto outcome =
      peer_hello ? owner_->options().access->check_token(*peer_hello) : peer_hello.status();
  if (outcome)
    return handshake_state::done;
  auto bytes = refusal_frame(outcome);
  iovec place{bytes.data(), bytes.size()};
  [[maybe_unused]] auto sent = tls_->write({&place, 1});
  return outcome;
}

result<handshake_state> pending_handshake::advance(std::span<std::byte> scratch) {
  const auto& options = owner_->options();
  if (!options.tls)
    return wait_for_hello(scratch);
  if (!tls_) {
    TROUPE_ASSIGN(auto received, peek(scratch.first(sizeof frame_magic)));
    if (received.empty())
      return handshake_state::needs_input;
    if (begins_as_frame(received)) {
      auto bytes = refusal_frame(failure(error_kind::failed_precondition,
                                         "connections to this task are over TLS; give a "
                                         "certificate, a key and an authority"));
      iovec place{bytes.data(), bytes.size()};
      [[maybe_unused]] auto sent = plain_->write({&place, 1});
      return failure(error_kind::failed_precondition, "it speaks without TLS");
    }
    tls_ = accept_tls(std::move(plain_), options.tls,
                      options.access && options.access->accepts_tokens());
  }
  if (!handshake_is_done_) {
    TROUPE_ASSIGN(auto state, tls_->continue_handshake());
    if (state != handshake_state::done)
      return state;
    handshake_is_done_ = true;
  }
  const auto* proven = tls_->names();
  return proven && !proven->empty() ? handshake_state::done : wait_for_token(scratch);
}

size_t pending_handshake::ready(bool, bool, std::span<std::byte> scratch) {
  if (is_over_)
    return 0;
  result<handshake_state> state = handshake_state::needs_input;
  try {
    state = advance(scratch);
  } catch (const std::exception& thrown) {
    state = failure(error_kind::resource_exhausted, thrown.what());
  }
  if (!state) {
    drop(state.status());
  } else if (*state == handshake_state::done) {
    is_over_ = is_accepted_ = true;
    owner_->remove(*this);
    owner_->loop().remove(id_);
  } else if (auto wants_output = *state == handshake_state::needs_output;
             wants_output != wants_writable_) {
    wants_writable_ = wants_output;
    owner_->loop().want_writable(id_, wants_output);
  }
  return 0;
}

void pending_handshake::tick(clock::time_point) {
  drop(failure(error_kind::deadline_exceeded, "it has not proven its identity within ",
               owner_->options().timeout.count(), " ms"));
}

void pending_handshake::drop(const status& why) {
  if (std::exchange(is_over_, true))
    return;
  owner_->remove(*this);
  owner_->report_refused(peer_, why);
  stream().shut_down_writing();
  owner_->loop().remove(id_);
}

// The loop does not watch the socket any more: another one may watch it now.
void pending_handshake::removed() {
  owner_->remove(*this);
  if (is_accepted_)
    return !tls_ ? owner_->pass(std::move(plain_))
           : hello_bytes_.empty()
               ? owner_->pass(std::move(tls_))
               : owner_->pass(make_replayed_stream(std::move(hello_bytes_), std::move(tls_)));
  // Closing with unread input would reset the connection, and the peer would lose the last message.
  stream().drop_input();
  plain_.reset();
  tls_.reset();
}

} // namespace

std::shared_ptr<pending_handshakes> pending_handshakes::make(std::shared_ptr<io_loop> loop,
                                                             pending_handshake_options options) {
  return std::make_shared<handshake_list>(std::move(loop), std::move(options));
}

std::vector<std::byte> refusal_frame(const status& why) {
  std::vector<std::byte> frame;
  if (auto body = encode(refusal{why})) {
    auto header = header_for(frame_kind::message, 0, body->bytes);
    frame.assign(header.begin(), header.end());
    frame.insert(frame.end(), body->bytes.begin(), body->bytes.end());
  }
  return frame;
}

} // namespace troupe
