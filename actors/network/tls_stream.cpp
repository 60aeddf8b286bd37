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
// What is encrypted before it is written.
constexpr size_t burst_bytes = 64 * 1024;
// Of encrypted bytes that are read at once.
constexpr size_t read_bytes = 64 * 1024;

// Buffers go from connection to connection: those that lie idle have none.
thread_local std::vector<std::byte> spare_output;
thread_local std::vector<std::byte> spare_input;

class stream_over_tls final : public tls_stream {
public:
  using maker = std::function<std::unique_ptr<tls_session>(tls_session::source)>;

  stream_over_tls(std::unique_ptr<byte_stream>& over, std::shared_ptr<tls_identity> as,
                  const maker& make)
      : identity_(std::move(as)),
        session_(make([this](std::span<std::byte> to) { return fetch(to); })),
        under_(std::move(over)) {}

  int id() const noexcept override { return under_->id(); }
  int socket() const noexcept override { return under_->socket(); }
  void end() override { under_->end(); }
  void drop_input() override { under_->drop_input(); }
  // The protocol above says goodbye: an end without it is none that was wanted, so that TLS need
  // not say its own, which two threads could not do at once.
  void end_writing() override { under_->end_writing(); }

  result<handshake_state> shake_hands() override {
    result<bool> done = false;
    {
      std::lock_guard guard{mutex_};
      done = session_->shake_hands();
      take_output();
    }
    auto sent = flush();
    if (!done)
      return done.status();
    if (!sent && errno != EAGAIN)
      return failure(error_kind::unavailable, "TLS handshake: ", std::strerror(errno));
    if (!sent)
      return handshake_state::needs_output;
    shaken_ = *done;
    return shaken_ ? handshake_state::done : handshake_state::needs_input;
  }

  ssize_t read(std::span<const iovec> places) override {
    size_t total = 0;
    ssize_t came = 0;
    int error = 0;
    for (const auto& place : places) {
      std::span to{static_cast<std::byte*>(place.iov_base), place.iov_len};
      while (!to.empty()) {
        std::lock_guard guard{mutex_}; // for a record
        came = session_->read(to);
        error = errno;
        if (came <= 0)
          break;
        to = to.subspan(static_cast<size_t>(came));
        total += static_cast<size_t>(came);
      }
      if (came <= 0 && !to.empty())
        break;
    }
    keep_input();
    if (total > 0)
      return static_cast<ssize_t>(total);
    errno = error;
    return came;
  }

  bool holds_input() const noexcept override { return holds_input_; }

  ssize_t write(std::span<const iovec> pieces) override {
    size_t taken = 0;
    for (bool more = true; more;) {
      if (!flush())
        return taken > 0 && errno == EAGAIN ? static_cast<ssize_t>(taken) : -1;
      std::lock_guard guard{mutex_};
      if (session_->output().empty())
        session_->output().swap(spare_output);
      auto begun = taken;
      more = encrypt(pieces, taken);
      if (!session_->failed().ok()) {
        errno = EPROTO;
        return -1;
      }
      take_output();
      more = more || taken > begun || !sending_.empty();
    }
    return static_cast<ssize_t>(taken);
  }

  bool holds_output() const noexcept override {
    std::lock_guard guard{mutex_};
    return is_sending_ || !session_->output().empty();
  }

  status why_failed(int error) const override {
    std::lock_guard guard{mutex_};
    return error == EPROTO && !session_->failed().ok() ? session_->failed()
                                                       : byte_stream::why_failed(error);
  }

  const std::vector<certificate_name>* names() const noexcept override {
    return shaken_ ? &session_->peer() : nullptr;
  }

private:
  // Encrypts up to a burst of what lies behind the first `taken` bytes; says whether some is left.
  bool encrypt(std::span<const iovec> pieces, size_t& taken) {
    std::array<std::byte, record_bytes> record;
    size_t skip = taken, filled = 0, room = burst_bytes;
    auto close_record = [&] {
      auto fine = session_->write(std::span{record}.first(filled));
      taken += filled;
      filled = 0;
      return fine;
    };
    for (const auto& piece : pieces) {
      std::span<const std::byte> from{static_cast<const std::byte*>(piece.iov_base), piece.iov_len};
      auto before = std::min(skip, from.size());
      from = from.subspan(before);
      skip -= before;
      while (!from.empty()) {
        if (room == 0) {
          close_record();
          return true;
        }
        if (filled == 0 && from.size() >= record_bytes && room >= record_bytes) {
          auto whole = std::min(from.size(), room) / record_bytes * record_bytes;
          if (!session_->write(from.first(whole)))
            return false;
          taken += whole;
          room -= whole;
          from = from.subspan(whole);
          continue;
        }
        auto part = std::min({from.size(), record_bytes - filled, room});
        std::memcpy(record.data() + filled, from.data(), part);
        filled += part;
        room -= part;
        from = from.subspan(part);
        if (filled == record_bytes && !close_record())
          return false;
      }
    }
    close_record();
    return false;
  }

  // What the session has made is written next. Under the lock, by the thread that writes.
  void take_output() {
    if (sending_.empty())
      sending_.swap(session_->output());
    is_sending_ = !sending_.empty();
  }

  // Writes what is encrypted. False: errno says why not all.
  bool flush() {
    for (;;) {
      while (sent_ < sending_.size()) {
        iovec rest{sending_.data() + sent_, sending_.size() - sent_};
        auto written = under_->write({&rest, 1});
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

  // Encrypted bytes for the session, which asks for them on the thread that reads. During the
  // handshake only what it asks for: what follows stays in the socket, where a loop sees it.
  ssize_t fetch(std::span<std::byte> to) {
    if (input_.empty()) {
      if (!shaken_) {
        iovec place{to.data(), to.size()};
        return under_->read({&place, 1});
      }
      spare_input.resize(read_bytes);
      iovec place{spare_input.data(), spare_input.size()};
      auto came = under_->read({&place, 1});
      if (came <= 0)
        return came;
      input_ = std::span{spare_input}.first(static_cast<size_t>(came));
    }
    auto part = std::min(to.size(), input_.size());
    std::memcpy(to.data(), input_.data(), part);
    input_ = input_.subspan(part);
    return static_cast<ssize_t>(part);
  }

  // What is left in the thread's buffer belongs to this connection.
  void keep_input() {
    if (!input_.empty() && (kept_.empty() || input_.data() < kept_.data() ||
                            input_.data() >= kept_.data() + kept_.size())) {
      kept_.assign(input_.begin(), input_.end());
      input_ = kept_;
    } else if (input_.empty() && !kept_.empty()) {
      kept_ = {};
    }
    std::lock_guard guard{mutex_};
    holds_input_ = !input_.empty() || session_->pending() > 0 || !session_->failed().ok();
  }

  const std::shared_ptr<tls_identity> identity_;
  mutable std::mutex mutex_; // of the session
  const std::unique_ptr<tls_session> session_;
  const std::unique_ptr<byte_stream> under_; // last of what can fail
  bool is_sending_ = false;                  // so, too: something of sending_ has not left
  bool shaken_ = false;
  // The reading thread's own:
  std::span<const std::byte> input_; // encrypted
  std::vector<std::byte> kept_;
  bool holds_input_ = false;
  // The writing thread's own:
  std::vector<std::byte> sending_; // encrypted
  size_t sent_ = 0;                // of it
};

// Nobody may have to wait longer for us to notice that we should stop.
constexpr std::chrono::milliseconds longest_slice{200};
// Something may accept a call and never answer it, as a proxy whose other side is dead: then the
// next call may come through.
constexpr std::chrono::seconds longest_handshake{5};

status finish_handshake(tls_stream& with, step_clock::time_point deadline,
                        const std::atomic<bool>& stop) {
  for (;;) {
    TROUPE_ASSIGN(auto state, with.shake_hands());
    if (state == handshake_state::done)
      return {};
    for (;;) {
      auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - step_clock::now());
      if (stop || left.count() <= 0)
        return failure(error_kind::unavailable, "the TLS handshake was not done in time; it may "
                                                "serve without TLS");
      pollfd wait{with.socket(),
                  static_cast<short>(state == handshake_state::needs_output ? POLLOUT : POLLIN), 0};
      if (::poll(&wait, 1, static_cast<int>(std::min(left, longest_slice).count())) > 0)
        break;
    }
  }
}

} // namespace

std::unique_ptr<tls_stream> answer_over_tls(std::unique_ptr<byte_stream>&& over,
                                            std::shared_ptr<tls_identity> as, bool anonymous) {
  auto& identity = *as;
  return std::make_unique<stream_over_tls>(over, std::move(as), [&](tls_session::source from) {
    return identity.answer(std::move(from), anonymous);
  });
}

std::unique_ptr<tls_stream> call_over_tls(std::unique_ptr<byte_stream>&& over,
                                          std::shared_ptr<tls_identity> as,
                                          const std::optional<task_name>& expected) {
  auto& identity = *as;
  return std::make_unique<stream_over_tls>(over, std::move(as), [&](tls_session::source from) {
    return identity.call(expected, std::move(from));
  });
}

result<std::unique_ptr<byte_stream>> dial_over_tls(const address& to,
                                                   const std::shared_ptr<tls_identity>& as,
                                                   const std::optional<task_name>& expected,
                                                   step_clock::time_point deadline,
                                                   const std::atomic<bool>& stop, bool once) {
  for (auto pause = std::chrono::milliseconds{20};;) {
    TROUPE_ASSIGN(auto socket, dial(to, deadline, stop, once));
    auto stream = call_over_tls(make_socket_stream(socket.release()), as, expected);
    auto outcome =
        finish_handshake(*stream, std::min(deadline, step_clock::now() + longest_handshake), stop);
    if (outcome)
      return std::unique_ptr<byte_stream>{std::move(stream)};
    stream->end_writing();
    stream->drop_input(); // what was not read would make the other end lose what it was told
    if (outcome.kind() != error_kind::unavailable || stop || once ||
        step_clock::now() + pause >= deadline)
      return std::move(outcome).within(to_string(to));
    std::this_thread::sleep_for(pause); // on a detached actor's thread, for a bounded time
    pause = std::min(pause * 2, longest_slice);
  }
}

} // namespace troupe
