// A byte stream that is encrypted: TLS over another one.
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

/// What a handshake waits for.
enum class handshake_state { done, needs_input, needs_output };

/// One thread makes the handshake. Then one may read, while another one writes.
class tls_stream : public byte_stream {
public:
  /// Goes on as far as the stream beneath does not have to wait. Fails with failed_precondition
  /// when one end does not believe the other, with unavailable when that ends before; the other end
  /// has been told why, as far as it could be.
  virtual result<handshake_state> shake_hands() = 0;
};

/// The end that was called. `anonymous`: by whom may stay open. Without memory `over` stays as it
/// is.
std::unique_ptr<tls_stream> answer_over_tls(std::unique_ptr<byte_stream>&& over,
                                            std::shared_ptr<tls_identity> as, bool anonymous);
/// The end that has called that task, or (with none) whichever task of the cluster is there.
std::unique_ptr<tls_stream> call_over_tls(std::unique_ptr<byte_stream>&& over,
                                          std::shared_ptr<tls_identity> as,
                                          const std::optional<task_name>& expected);

/// Returns a stream to a task that has proven to be that one, or one of the cluster's. Tries again
/// as dial() does, and where a connection ends during the handshake: a task may be on its way down
/// or up; unless it is to be tried `once`. What will not be otherwise next time (certificates)
/// fails at once. Blocks the thread.
result<std::unique_ptr<byte_stream>>
dial_over_tls(const address& to, const std::shared_ptr<tls_identity>& as,
              const std::optional<task_name>& expected, step_clock::time_point deadline,
              const std::atomic<bool>& stop, bool once = false);

} // namespace troupe
