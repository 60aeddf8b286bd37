// A small HTTP server for operators and their tools: one thread of its own, and bounds for all that
// strangers may do to it.
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

/// A GET or HEAD request; other methods are refused before.
struct http_request {
  std::string target; ///< as it came, "/v1/node/job:ps?depth=2"
};

struct http_response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
};

struct http_limits {
  size_t connections = 64; ///< more: the one that is idle for the longest goes, or the new one
  size_t header_bytes = 8 * 1024;
  size_t body_bytes = 4 * 1024;               ///< which is read and ignored
  std::chrono::milliseconds request{5'000};   ///< from its first byte to its last
  std::chrono::milliseconds idle{60'000};     ///< between requests of a connection
  std::chrono::milliseconds answer{10'000};   ///< until the handler must have answered
  std::chrono::milliseconds response{10'000}; ///< until the peer must have taken the answer
};

/// Serves until it is destroyed, which closes all connections.
class http_server {
public:
  /// Takes the answer to one request, once, on any thread; what comes too late is dropped.
  using respond = std::function<void(http_response)>;
  /// Called on the server's thread, which it must not block. What it throws is answered with 500.
  using handler = std::function<void(const http_request&, respond)>;

  /// Fails with `unavailable` where it cannot listen. On loopback, requests that name another host
  /// than loopback are refused: a page in a browser on this machine must not read what is here by a
  /// name of its own that leads here.
  static result<std::unique_ptr<http_server>> start(const address& at, handler answers,
                                                    const http_limits& limits = {});
  virtual ~http_server() = default;
  virtual uint16_t port() const noexcept = 0;
};

} // namespace troupe
