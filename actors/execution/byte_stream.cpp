#include "troupe/actors/execution/byte_stream.hpp"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe {
namespace {

// A peer that keeps sending must not occupy the thread, so input is discarded only up to this
// limit. Beyond it, the peer may lose the last message, because the connection is reset.
constexpr size_t most_dropped = 128 * 1024;

class socket_stream final : public byte_stream {
public:
  explicit socket_stream(int socket) : socket_(socket) {
    int yes = 1; // messages are gathered before, so the system need not delay them
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  socket_stream(const socket_stream&) = delete;
  socket_stream& operator=(const socket_stream&) = delete;
  ~socket_stream() override { ::close(socket_); }

  int id() const noexcept override { return socket_; }
  ssize_t read(std::span<const iovec> places) override {
    return ::readv(socket_, places.data(), static_cast<int>(places.size()));
  }
  ssize_t write(std::span<const iovec> pieces) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    return ::sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  int socket() const noexcept override { return socket_; }
  void shut_down_writing() override { ::shutdown(socket_, SHUT_WR); }
  void shut_down() override { ::shutdown(socket_, SHUT_RDWR); }
  void drop_input() override {
    char discarded[4096];
    ssize_t received = 1;
    for (size_t total = 0; received > 0 && total < most_dropped; total += sizeof discarded)
      received = ::recv(socket_, discarded, sizeof discarded, MSG_DONTWAIT);
  }

private:
  const int socket_;
};

// Returns bytes that were read before, and then reads on.
class replayed_stream final : public byte_stream {
public:
  replayed_stream(std::vector<std::byte> first, std::unique_ptr<byte_stream> next)
      : first_(std::move(first)), next_(std::move(next)) {}

  int id() const noexcept override { return next_->id(); }
  ssize_t read(std::span<const iovec> places) override {
    if (position_ == first_.size())
      return next_->read(places);
    auto before = position_;
    for (const auto& place : places) {
      auto size = std::min(place.iov_len, first_.size() - position_);
      std::copy_n(first_.data() + position_, size, static_cast<std::byte*>(place.iov_base));
      position_ += size;
    }
    auto received = static_cast<ssize_t>(position_ - before);
    if (position_ == first_.size()) {
      first_ = {};
      position_ = 0;
    }
    return received;
  }
  ssize_t write(std::span<const iovec> pieces) override { return next_->write(pieces); }
  void shut_down_writing() override { next_->shut_down_writing(); }
  void shut_down() override { next_->shut_down(); }
  void drop_input() override { next_->drop_input(); }
  int socket() const noexcept override { return next_->socket(); }
  bool has_buffered_input() const noexcept override {
    return position_ < first_.size() || next_->has_buffered_input();
  }
  bool has_unsent_output() const noexcept override { return next_->has_unsent_output(); }
  status error_of(int error) const override { return next_->error_of(error); }
  const std::vector<certificate_name>* names() const noexcept override { return next_->names(); }

private:
  // Of the reading thread:
  std::vector<std::byte> first_;
  size_t position_ = 0;
  const std::unique_ptr<byte_stream> next_;
};

} // namespace

status byte_stream::error_of(int error) const {
  return failure(error_kind::unavailable, std::strerror(error));
}

std::unique_ptr<byte_stream> make_socket_stream(int socket) {
  return std::make_unique<socket_stream>(socket);
}

std::unique_ptr<byte_stream> make_replayed_stream(std::vector<std::byte> first,
                                                  std::unique_ptr<byte_stream> next) {
  return std::make_unique<replayed_stream>(std::move(first), std::move(next));
}

} // namespace troupe
