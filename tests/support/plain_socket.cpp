#include "tests/support/plain_socket.hpp"

#include <stdexcept>
#include <stop_token>
#include <utility>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test {
namespace {

constexpr int patience_ms = 2000;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  socket_address.sin_port = htons(port);
  socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return socket_address;
}

} // namespace

plain_connection::plain_connection(uint16_t port)
    : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  auto socket_address = loopback(port);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&socket_address),
                sizeof(socket_address)) != 0)
    throw std::runtime_error{"cannot connect"};
}

plain_connection::plain_connection(plain_connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

plain_connection::~plain_connection() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

bool plain_connection::write(std::string_view bytes) {
  return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

std::string plain_connection::read_to_end(bool& closed) {
  std::string text;
  char buffer[4096];
  for (pollfd wait{descriptor_, POLLIN, 0}; ::poll(&wait, 1, patience_ms) == 1;) {
    auto n = ::read(descriptor_, buffer, sizeof(buffer));
    closed = n <= 0;
    if (closed)
      return text;
    text.append(buffer, static_cast<size_t>(n));
  }
  closed = false;
  return text;
}

plain_server::plain_server(uint16_t port, manner peer_manner)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  int enabled = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof(enabled));
  auto socket_address = loopback(port);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&socket_address), sizeof(socket_address)) !=
          0 ||
      ::listen(listener_, 16) != 0)
    throw std::runtime_error{"cannot listen"};
  thread_ = std::jthread{[this, peer_manner](const std::stop_token& stop) {
    std::vector<plain_connection> connections;
    while (!stop.stop_requested()) {
      pollfd wait{listener_, POLLIN, 0};
      if (::poll(&wait, 1, 20) == 1)
        connections.emplace_back(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
      if (peer_manner == manner::closes)
        connections.clear();
      for (auto& connection : connections) {
        char buffer[4096];
        auto n = ::recv(connection.descriptor(), buffer, sizeof(buffer), MSG_DONTWAIT);
        if (n > 0 && peer_manner == manner::echoes)
          connection.write({buffer, static_cast<size_t>(n)});
        else if (n > 0 && peer_manner == manner::http)
          connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
      }
    }
  }};
}

plain_server::~plain_server() {
  thread_ = {};
  ::close(listener_);
}

} // namespace troupe::test
