#include "troupe/actors/byte_stream.hpp"

#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe {
namespace {

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
    while (::recv(socket_, rest, sizeof rest, MSG_DONTWAIT) > 0)
      ;
  }

private:
  const int socket_;
};

} // namespace

status byte_stream::why_failed(int error) const {
  return failure(error_kind::unavailable, std::strerror(error));
}

std::unique_ptr<byte_stream> make_socket_stream(int socket) {
  return std::make_unique<socket_stream>(socket);
}

} // namespace troupe
