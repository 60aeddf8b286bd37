#include "troupe/actors/network/tls_stream.hpp"

#include "troupe/serialization/tls/tls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>

namespace troupe {
namespace {

constexpr size_t record_bytes = 16 * 1024;
// The number of bytes that are encrypted before they are written.
constexpr size_t burst_bytes = 64 * 1024;
// The number of encrypted bytes that are read at once.
constexpr size_t read_bytes = 64 * 1024;

// Buffers are shared by the connections of a thread: idle connections have none.
thread_local std::vector<std::byte> spare_output;
thread_local std::vector<std::byte> spare_input;

class stream_over_tls final : public tls_stream {
public:
  using maker = std::function<std::unique_ptr<tls_session>(tls_session::source)>;

  stream_over_tls(std::unique_ptr<byte_stream>& stream, std::shared_ptr<tls_identity> identity,
                  const maker& make)
      : identity_(std::move(identity)),
        session_(make([this](std::span<std::byte> target) { return fetch(target); })),
        stream_(std::move(stream)) {}

  int id() const noexcept override { return stream_->id(); }
  int socket() const noexcept override { return stream_->socket(); }
  void shut_down() override { stream_->shut_down(); }
  void drop_input() override { stream_->drop_input(); }
  // The protocol above sends goodbye, and an end without it is an error. So TLS need not send its
  // own close alert, which two threads could not do at once.
  void shut_down_writing() override { stream_->shut_down_writing(); }

  result<handshake_state> continue_handshake() override {
    result<bool> done = false;
    {
      std::lock_guard guard{mutex_};
      done = session_->continue_handshake();
      take_output();
    }
    auto all_is_sent = flush();
    if (!done)
      return done.status();
    if (!all_is_sent && errno != EAGAIN)
      return failure(error_kind::unavailable, "TLS handshake: ", std::strerror(errno));
    if (!all_is_sent)
      return handshake_state::needs_output;
    handshake_is_done_ = *done;
    return handshake_is_done_ ? handshake_state::done : handshake_state::needs_input;
  }

  ssize_t read(std::span<const iovec> places) override {
    size_t total = 0;
    ssize_t received = 0;
    int error = 0;
    for (const auto& place : places) {
      std::span target{static_cast<std::byte*>(place.iov_base), place.iov_len};
      while (!target.empty()) {
        std::lock_guard guard{mutex_}; // for each record
        received = session_->read(target);
        error = errno;
        if (received <= 0)
          break;
        target = target.subspan(static_cast<size_t>(received));
        total += static_cast<size_t>(received);
      }
      if (received <= 0 && !target.empty())
        break;
    }
    keep_input();
    if (total > 0)
      return static_cast<ssize_t>(total);
    errno = error;
    return received;
  }

  bool has_buffered_input() const noexcept override { return has_buffered_input_; }

  ssize_t write(std::span<const iovec> pieces) override {
    size_t taken = 0;
    for (bool has_more = true; has_more;) {
      if (!flush())
        return taken > 0 && errno == EAGAIN ? static_cast<ssize_t>(taken) : -1;
      std::lock_guard guard{mutex_};
      if (session_->output().empty())
        session_->output().swap(spare_output);
      auto taken_before = taken;
      has_more = encrypt(pieces, taken);
      if (!session_->failed().ok()) {
        errno = EPROTO;
        return -1;
      }
      take_output();
      has_more = has_more || taken > taken_before || !sending_.empty();
    }
    return static_cast<ssize_t>(taken);
  }

  bool has_unsent_output() const noexcept override {
    std::lock_guard guard{mutex_};
    return is_sending_ || !session_->output().empty();
  }

  status error_of(int error) const override {
    std::lock_guard guard{mutex_};
    return error == EPROTO && !session_->failed().ok() ? session_->failed()
                                                       : byte_stream::error_of(error);
  }

  const std::vector<certificate_name>* names() const noexcept override {
    return handshake_is_done_ ? &session_->peer() : nullptr;
  }

private:
  // Encrypts up to a burst of the bytes behind the first `taken` ones; returns whether some are
  // left.
  bool encrypt(std::span<const iovec> pieces, size_t& taken) {
    std::array<std::byte, record_bytes> record;
    size_t skip = taken, filled = 0, room = burst_bytes;
    auto close_record = [&] {
      auto outcome = session_->write(std::span{record}.first(filled));
      taken += filled;
      filled = 0;
      return outcome;
    };
    for (const auto& piece : pieces) {
      std::span<const std::byte> unencrypted{static_cast<const std::byte*>(piece.iov_base),
                                             piece.iov_len};
      auto skipped = std::min(skip, unencrypted.size());
      unencrypted = unencrypted.subspan(skipped);
      skip -= skipped;
      while (!unencrypted.empty()) {
        if (room == 0) {
          close_record();
          return true;
        }
        if (filled == 0 && unencrypted.size() >= record_bytes && room >= record_bytes) {
          auto record_multiple = std::min(unencrypted.size(), room) / record_bytes * record_bytes;
          if (!session_->write(unencrypted.first(record_multiple)))
            return false;
          taken += record_multiple;
          room -= record_multiple;
          unencrypted = unencrypted.subspan(record_multiple);
          continue;
        }
        auto copied = std::min({unencrypted.size(), record_bytes - filled, room});
        std::memcpy(record.data() + filled, unencrypted.data(), copied);
        filled += copied;
        room -= copied;
        unencrypted = unencrypted.subspan(copied);
        if (filled == record_bytes && !close_record())
          return false;
      }
    }
    close_record();
    return false;
  }

  // Moves the session's output to sending_. Called with the lock held, by the writing thread.
  void take_output() {
    if (sending_.empty())
      sending_.swap(session_->output());
    is_sending_ = !sending_.empty();
  }

  // Writes the encrypted bytes. False: not all were written, and errno says why.
  bool flush() {
    for (;;) {
      while (sent_ < sending_.size()) {
        iovec unsent{sending_.data() + sent_, sending_.size() - sent_};
        auto written = stream_->write({&unsent, 1});
        if (written < 0 && errno == EINTR)
          continue;
        if (written < 0)
          return false;
        sent_ += static_cast<size_t>(written);
      }
      sent_ = 0;
      sending_.clear();
      if (sending_.capacity() > spare_output.capacity())
        spare_output.swap(sending_);
      std::lock_guard guard{mutex_};
      take_output();
      if (!is_sending_)
        return true;
    }
  }

  // Reads encrypted bytes for the session, which calls it on the reading thread. During the
  // handshake, reads only the requested bytes: later ones stay in the socket, where the loop sees
  // them.
  ssize_t fetch(std::span<std::byte> target) {
    if (input_.empty()) {
      if (!handshake_is_done_) {
        iovec place{target.data(), target.size()};
        return stream_->read({&place, 1});
      }
      spare_input.resize(read_bytes);
      iovec place{spare_input.data(), spare_input.size()};
      auto received = stream_->read({&place, 1});
      if (received <= 0)
        return received;
      input_ = std::span{spare_input}.first(static_cast<size_t>(received));
    }
    auto copied = std::min(target.size(), input_.size());
    std::memcpy(target.data(), input_.data(), copied);
    input_ = input_.subspan(copied);
    return static_cast<ssize_t>(copied);
  }

  // Copies unread bytes from the thread's buffer to this connection.
  void keep_input() {
    if (!input_.empty() && (unread_.empty() || input_.data() < unread_.data() ||
                            input_.data() >= unread_.data() + unread_.size())) {
      unread_.assign(input_.begin(), input_.end());
      input_ = unread_;
    } else if (input_.empty() && !unread_.empty()) {
      unread_ = {};
    }
    std::lock_guard guard{mutex_};
    has_buffered_input_ = !input_.empty() || session_->pending() > 0 || !session_->failed().ok();
  }

  const std::shared_ptr<tls_identity> identity_;
  mutable std::mutex mutex_; // guards session_ and is_sending_
  const std::unique_ptr<tls_session> session_;
  const std::unique_ptr<byte_stream> stream_; // last: moved only if nothing has thrown
  bool is_sending_ = false;                   // whether sending_ has unsent bytes
  bool handshake_is_done_ = false;
  // Of the reading thread:
  std::span<const std::byte> input_; // encrypted
  std::vector<std::byte> unread_;
  bool has_buffered_input_ = false;
  // Of the writing thread:
  std::vector<std::byte> sending_; // encrypted
  size_t sent_ = 0;                // bytes of sending_
};

// The longest time until a change of `stop` is noticed.
constexpr std::chrono::milliseconds max_tls_poll_wait{200};
// A peer may accept a connection and never answer, as a proxy with a dead backend does. The next
// connection may succeed then.
constexpr std::chrono::seconds max_tls_handshake_time{5};

status finish_handshake(tls_stream& stream, step_clock::time_point deadline,
                        const std::atomic<bool>& stop) {
  for (;;) {
    TROUPE_ASSIGN(auto state, stream.continue_handshake());
    if (state == handshake_state::done)
      return {};
    for (;;) {
      auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - step_clock::now());
      if (stop || left.count() <= 0)
        return failure(error_kind::unavailable, "the TLS handshake was not done in time; it may "
                                                "serve without TLS");
      pollfd wait{stream.socket(),
                  static_cast<short>(state == handshake_state::needs_output ? POLLOUT : POLLIN), 0};
      if (::poll(&wait, 1, static_cast<int>(std::min(left, max_tls_poll_wait).count())) > 0)
        break;
    }
  }
}

} // namespace

std::unique_ptr<tls_stream> accept_tls(std::unique_ptr<byte_stream>&& stream,
                                       std::shared_ptr<tls_identity> identity, bool anonymous) {
  auto& identity_used = *identity;
  return std::make_unique<stream_over_tls>(
      stream, std::move(identity),
      [&](tls_session::source from) { return identity_used.accept(std::move(from), anonymous); });
}

std::unique_ptr<tls_stream> connect_tls(std::unique_ptr<byte_stream>&& stream,
                                        std::shared_ptr<tls_identity> identity,
                                        const std::optional<task_name>& expected) {
  auto& identity_used = *identity;
  return std::make_unique<stream_over_tls>(
      stream, std::move(identity),
      [&](tls_session::source from) { return identity_used.connect(expected, std::move(from)); });
}

result<std::unique_ptr<byte_stream>>
dial_over_tls(const address& endpoint, const std::shared_ptr<tls_identity>& identity,
              const std::optional<task_name>& expected, step_clock::time_point deadline,
              const std::atomic<bool>& stop, bool single_attempt) {
  for (auto pause = std::chrono::milliseconds{20};;) {
    TROUPE_ASSIGN(auto socket, dial(endpoint, deadline, stop, single_attempt));
    auto stream = connect_tls(make_socket_stream(socket.release()), identity, expected);
    auto outcome = finish_handshake(
        *stream, std::min(deadline, step_clock::now() + max_tls_handshake_time), stop);
    if (outcome)
      return std::unique_ptr<byte_stream>{std::move(stream)};
    stream->shut_down_writing();
    // Closing with unread input would reset the connection, and the peer would lose the alert.
    stream->drop_input();
    if (outcome.kind() != error_kind::unavailable || stop || single_attempt ||
        step_clock::now() + pause >= deadline)
      return std::move(outcome).with_context(to_string(endpoint));
    std::this_thread::sleep_for(pause); // on a detached actor's thread, for a bounded time
    pause = std::min(pause * 2, max_tls_poll_wait);
  }
}

} // namespace troupe
