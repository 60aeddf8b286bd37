#include "troupe/actors/execution/byte_stream.hpp"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe {
namespace {

// Who goes on sending must not hold the thread; what it is told may then be lost on its way.
constexpr size_t most_dropped = 128 * 1024;

class socket_stream final : public byte_stream {
public:
  explicit socket_stream(int socket) : socket_(socket) {
    int yes = 1; // messages are gathered before, and are not to wait for more in the system
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
  void end_writing() override { ::shutdown(socket_, SHUT_WR); }
  void end() override { ::shutdown(socket_, SHUT_RDWR); }
  void drop_input() override {
    char rest[4096];
    ssize_t came = 1;
    for (size_t total = 0; came > 0 && total < most_dropped; total += sizeof rest)
      came = ::recv(socket_, rest, sizeof rest, MSG_DONTWAIT);
  }

private:
  const int socket_;
};

// Gives some bytes again that were read.
class replayed_stream final : public byte_stream {
public:
  replayed_stream(std::vector<std::byte> first, std::unique_ptr<byte_stream> rest)
      : first_(std::move(first)), under_(std::move(rest)) {}

  int id() const noexcept override { return under_->id(); }
  ssize_t read(std::span<const iovec> places) override {
    if (given_ == first_.size())
      return under_->read(places);
    auto before = given_;
    for (const auto& place : places) {
      auto part = std::min(place.iov_len, first_.size() - given_);
      std::copy_n(first_.data() + given_, part, static_cast<std::byte*>(place.iov_base));
      given_ += part;
    }
    auto came = static_cast<ssize_t>(given_ - before);
    if (given_ == first_.size()) {
      first_ = {};
      given_ = 0;
    }
    return came;
  }
  ssize_t write(std::span<const iovec> pieces) override { return under_->write(pieces); }
  void end_writing() override { under_->end_writing(); }
  void end() override { under_->end(); }
  void drop_input() override { under_->drop_input(); }
  int socket() const noexcept override { return under_->socket(); }
  bool holds_input() const noexcept override {
    return given_ < first_.size() || under_->holds_input();
  }
  bool holds_output() const noexcept override { return under_->holds_output(); }
  status why_failed(int error) const override { return under_->why_failed(error); }
  const std::vector<certificate_name>* names() const noexcept override { return under_->names(); }

private:
  // The reading thread's own:
  std::vector<std::byte> first_;
  size_t given_ = 0;
  const std::unique_ptr<byte_stream> under_;
};

} // namespace

status byte_stream::why_failed(int error) const {
  return failure(error_kind::unavailable, std::strerror(error));
}

std::unique_ptr<byte_stream> make_socket_stream(int socket) {
  return std::make_unique<socket_stream>(socket);
}

std::unique_ptr<byte_stream> make_replayed_stream(std::vector<std::byte> first,
                                                  std::unique_ptr<byte_stream> rest) {
  return std::make_unique<replayed_stream>(std::move(first), std::move(rest));
}

} // namespace troupe
