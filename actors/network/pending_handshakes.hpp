// Accepted connections whose peers have not proven their identity yet. Each costs little and has a
// limited time, and their number is limited.
#pragma once
#include "troupe/actors/execution/byte_stream.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class access_control;
class io_loop;
class tls_identity;

struct pending_handshake_options {
  std::shared_ptr<tls_identity> tls;           ///< null: peers send their hello without TLS
  std::shared_ptr<access_control> access = {}; ///< may admit clients that show a token
  size_t max_connections = 256;                ///< beyond it, one is dropped
  std::chrono::milliseconds timeout{10'000};   ///< time limit of a connection
  /// Called on the loop's thread with an accepted connection: over TLS, to a peer that is trusted
  /// by its certificate or by the token of its hello; or without TLS, when the hello has come. All
  /// received bytes can be read from it.
  std::function<void(std::unique_ptr<byte_stream>)> on_ready;
  /// Called on the loop's thread with the address of a refused peer, and the reason.
  std::function<void(const std::string& peer, const status& why)> on_refused = {};
};

/// The connections of one listener.
class pending_handshakes {
public:
  /// Use a loop that running steps do not need: a handshake takes half a millisecond.
  static std::shared_ptr<pending_handshakes> make(std::shared_ptr<io_loop> loop,
                                                  pending_handshake_options options);
  virtual ~pending_handshakes() = default;

  /// Adds an accepted connection. If there are too many, drops the oldest one of the host that has
  /// most. Call it on the loop's thread.
  virtual void add(std::unique_ptr<byte_stream> stream) = 0;
  /// Drops all current and later connections. Any thread may call.
  virtual void close() = 0;
  virtual size_t size() const = 0;
};

/// Returns the frame that tells a peer why it is refused, before or after its hello.
std::vector<std::byte> refusal_frame(const status& why);

} // namespace troupe
