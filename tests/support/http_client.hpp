// A socket that sends valid or invalid requests to an HTTP server.
#pragma once
#include "tests/support/watchdog.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test {

struct http_answer {
  int status = 0;
  std::string headers, body;
};

class http_client {
public:
  explicit http_client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in socket_address{};
    socket_address.sin_family = AF_INET;
    socket_address.sin_port = htons(port);
    socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&socket_address), sizeof socket_address) !=
        0)
      throw std::runtime_error{"cannot connect"};
  }
  http_client(http_client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  http_client& operator=(http_client&&) = delete;
  ~http_client() {
    if (socket_ >= 0)
      ::close(socket_);
  }

  /// Returns whether all bytes were sent.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto sent_bytes = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent_bytes <= 0)
        return false;
      bytes.remove_prefix(static_cast<size_t>(sent_bytes));
    }
    return true;
  }

  /// The next answer; nothing if the connection ends before.
  std::optional<http_answer> receive(bool with_body = true) {
    size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos)
      if (!receive_more())
        return std::nullopt;
    http_answer result;
    result.headers = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    if (result.headers.size() > 12)
      result.status = std::stoi(result.headers.substr(9, 3));
    auto length = result.headers.find("Content-Length: ");
    if (with_body && length != result.headers.npos) {
      auto size = std::stoul(result.headers.substr(length + 16));
      while (buffer_.size() < size)
        if (!receive_more())
          return std::nullopt;
      result.body = buffer_.substr(0, size);
      buffer_.erase(0, size);
    }
    return result;
  }

  std::optional<http_answer> get(std::string_view target) {
    std::string request{"GET "};
    request += target;
    request += " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (!send(request))
      return std::nullopt;
    return receive();
  }

  /// Waits until the connection ends, for at most that long; received bytes are dropped.
  bool ends_within(std::chrono::milliseconds timeout) {
    auto end = std::chrono::steady_clock::now() + timeout * timeout_factor();
    while (std::chrono::steady_clock::now() < end)
      if (!receive_more(std::chrono::duration_cast<std::chrono::milliseconds>(
              end - std::chrono::steady_clock::now())))
        return std::chrono::steady_clock::now() < end;
    return false;
  }

private:
  bool receive_more(std::chrono::milliseconds timeout = std::chrono::seconds{30}) {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(timeout.count())) != 1)
      return false;
    char bytes[4096];
    auto received = ::recv(socket_, bytes, sizeof bytes, 0);
    if (received <= 0)
      return false;
    buffer_.append(bytes, static_cast<size_t>(received));
    return true;
  }

  int socket_;
  std::string buffer_;
};

} // namespace troupe::test
