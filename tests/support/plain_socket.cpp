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
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

} // namespace

plain_connection::plain_connection(uint16_t port)
    : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  auto at = loopback(port);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0)
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
  std::string all;
  char buffer[4096];
  for (pollfd wait{descriptor_, POLLIN, 0}; ::poll(&wait, 1, patience_ms) == 1;) {
    auto n = ::read(descriptor_, buffer, sizeof(buffer));
    closed = n <= 0;
    if (closed)
      return all;
    all.append(buffer, static_cast<size_t>(n));
  }
  closed = false;
  return all;
}

plain_server::plain_server(uint16_t port, manner how)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  auto at = loopback(port);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0 ||
      ::listen(listener_, 16) != 0)
    throw std::runtime_error{"cannot listen"};
  thread_ = std::jthread{[this, how](const std::stop_token& stop) {
    std::vector<plain_connection> connections;
    while (!stop.stop_requested()) {
      pollfd wait{listener_, POLLIN, 0};
      if (::poll(&wait, 1, 20) == 1)
        connections.emplace_back(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
      if (how == manner::closes)
        connections.clear();
      for (auto& one : connections) {
        char buffer[4096];
        auto n = ::recv(one.descriptor(), buffer, sizeof(buffer), MSG_DONTWAIT);
        if (n > 0 && how == manner::echoes)
          one.write({buffer, static_cast<size_t>(n)});
        else if (n > 0 && how == manner::http)
          one.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
      }
    }
  }};
}

plain_server::~plain_server() {
  thread_ = {};
  ::close(listener_);
}

} // namespace troupe::test
