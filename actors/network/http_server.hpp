// A small HTTP server for operators and their tools, with one thread of its own. It does not
// authenticate clients, so it limits their connections and requests.
#pragma once
#include "troupe/actors/network/dial.hpp"
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

/// A GET or HEAD request; the server refuses other methods.
struct http_request {
  std::string target; ///< as received: "/v1/node/job:ps?depth=2"
};

struct http_response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
};

struct http_limits {
  size_t connections = 64; ///< beyond it, the longest idle one is closed, or the new one refused
  size_t header_bytes = 8 * 1024;
  size_t body_bytes = 4 * 1024;               ///< a body is read and ignored
  std::chrono::milliseconds request{5'000};   ///< from its first byte to its last
  std::chrono::milliseconds idle{60'000};     ///< between requests of a connection
  std::chrono::milliseconds answer{10'000};   ///< time limit of the handler
  std::chrono::milliseconds response{10'000}; ///< time limit for sending the answer
};

/// Serves until it is destroyed, which closes all connections.
class http_server {
public:
  /// Takes the answer to one request, once, on any thread; a late answer is dropped.
  using respond = std::function<void(http_response)>;
  /// Called on the server's thread, which it must not block. An exception is answered with 500.
  using handler = std::function<void(const http_request&, respond)>;

  /// Fails with `unavailable` if it cannot listen. On loopback, requests for another host name are
  /// refused: a web page in a browser on this machine must not read the server by a host name that
  /// resolves to loopback (DNS rebinding).
  static result<std::unique_ptr<http_server>> start(const address& endpoint, handler on_request,
                                                    const http_limits& limits = {});
  virtual ~http_server() = default;
  virtual uint16_t port() const noexcept = 0;
};

} // namespace troupe
