// A socket that speaks to an HTTP server, well or badly.
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
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0)
      throw std::runtime_error{"cannot connect"};
  }
  http_client(http_client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  http_client& operator=(http_client&&) = delete;
  ~http_client() {
    if (socket_ >= 0)
      ::close(socket_);
  }

  /// Says whether all was taken.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  /// The next answer; nothing where the connection ends before.
  std::optional<http_answer> receive(bool with_body = true) {
    size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos)
      if (!more())
        return std::nullopt;
    http_answer found;
    found.headers = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    if (found.headers.size() > 12)
      found.status = std::stoi(found.headers.substr(9, 3));
    auto length = found.headers.find("Content-Length: ");
    if (with_body && length != found.headers.npos) {
      auto size = std::stoul(found.headers.substr(length + 16));
      while (buffer_.size() < size)
        if (!more())
          return std::nullopt;
      found.body = buffer_.substr(0, size);
      buffer_.erase(0, size);
    }
    return found;
  }

  std::optional<http_answer> get(std::string_view target) {
    std::string request{"GET "};
    request += target;
    request += " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (!send(request))
      return std::nullopt;
    return receive();
  }

  /// Waits for the end of the connection, at most so long; what comes before is dropped.
  bool ends_within(std::chrono::milliseconds patience) {
    auto end = std::chrono::steady_clock::now() + patience * patience_factor();
    while (std::chrono::steady_clock::now() < end)
      if (!more(std::chrono::duration_cast<std::chrono::milliseconds>(
              end - std::chrono::steady_clock::now())))
        return std::chrono::steady_clock::now() < end;
    return false;
  }

private:
  bool more(std::chrono::milliseconds patience = std::chrono::seconds{30}) {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(patience.count())) != 1)
      return false;
    char bytes[4096];
    auto came = ::recv(socket_, bytes, sizeof bytes, 0);
    if (came <= 0)
      return false;
    buffer_.append(bytes, static_cast<size_t>(came));
    return true;
  }

  int socket_;
  std::string buffer_;
};

} // namespace troupe::test
