// A byte stream that encrypts: TLS over another byte stream.
#pragma once
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

namespace troupe {

class tls_identity;

/// The event that a handshake waits for.
enum class handshake_state { done, needs_input, needs_output };

/// One thread does the handshake. After that one thread may read while another one writes.
class tls_stream : public byte_stream {
public:
  /// Continues the handshake as far as the stream below does not block. Fails with
  /// failed_precondition if one end does not trust the other, with unavailable if the stream below
  /// ends first. Sends the peer the reason, if possible.
  virtual result<handshake_state> continue_handshake() = 0;
};

/// Returns the accepting end. `anonymous`: peers need no certificate. If memory is short, `stream`
/// is not moved from.
std::unique_ptr<tls_stream> accept_tls(std::unique_ptr<byte_stream>&& stream,
                                       std::shared_ptr<tls_identity> identity, bool anonymous);
/// Returns the connecting end. `expected` is the task that must answer; if empty, any task of the
/// cluster.
std::unique_ptr<tls_stream> connect_tls(std::unique_ptr<byte_stream>&& stream,
                                        std::shared_ptr<tls_identity> identity,
                                        const std::optional<task_name>& expected);

/// Returns a stream to a peer that has proven to be the expected task, or a task of the cluster.
/// Retries as dial() does, and if a connection ends during the handshake, because a task may be
/// starting or ending; with `single_attempt`, tries only once. Errors that a retry does not change
/// (certificates) fail at once. Blocks the thread.
result<std::unique_ptr<byte_stream>>
dial_over_tls(const address& endpoint, const std::shared_ptr<tls_identity>& identity,
              const std::optional<task_name>& expected, step_clock::time_point deadline,
              const std::atomic<bool>& stop, bool single_attempt = false);

} // namespace troupe
