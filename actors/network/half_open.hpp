// Connections that have come, until it is proven who has made them: each costs little and has a
// bounded time, and there are not more than a bounded number.
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

struct half_open_options {
  std::shared_ptr<tls_identity> tls;           ///< none: they say hello without
  std::shared_ptr<access_control> access = {}; ///< may let clients in that show a token
  size_t max = 256;                            ///< the oldest goes for one more
  std::chrono::milliseconds patience{10'000};  ///< from when it came
  /// A connection over TLS to a peer that is believed by its certificate, or by the token of its
  /// hello, or one without TLS whose hello has come; all that it has sent is there to be read. On
  /// the loop's thread.
  std::function<void(std::unique_ptr<byte_stream>)> on_ready;
  /// Who was not let in, and why. On the loop's thread.
  std::function<void(const std::string& peer, const status& why)> on_refused = {};
};

class half_open_connections {
public:
  /// Its loop should be none that running steps need: a handshake takes half a millisecond.
  static std::shared_ptr<half_open_connections> make(std::shared_ptr<io_loop> loop,
                                                     half_open_options options);
  virtual ~half_open_connections() = default;

  /// On the loop's thread.
  virtual void add(std::unique_ptr<byte_stream> stream) = 0;
  /// Drops all that there are and will be. Any thread may call.
  virtual void close() = 0;
  virtual size_t size() const = 0;
};

/// The frame that tells a peer why it is sent away, before its hello has come or after.
std::vector<std::byte> refusal_frame(const status& why);

} // namespace troupe
