// The loss of a GPU: its reason, and the listeners that get it.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

namespace troupe::gpu {

/// The first loss counts. Any thread may call any function. record() and add() call no listener, so
/// a caller may hold locks that listeners take: the device's thread calls report().
class loss_record {
public:
  using listener = std::function<void(const status&)>;
  enum class cause : uint8_t {
    driver,  ///< the driver reported it: no launch runs any more
    silence, ///< the watchdog noticed it: a launch may still run, or begin to run later
  };

  /// Returns ok while the device works, else the reason.
  status reason() const;
  /// Returns whether launches may still use the device's memory although it is lost.
  bool may_run() const noexcept { return may_run_.load(std::memory_order_acquire); }

  /// Returns whether report() is to be called: whether this is the first loss.
  bool record(status reason, cause noticed_by);
  /// Adds a listener, which report() calls once. Returns whether report() is to be called: whether
  /// the device is lost.
  bool add(listener act);

  bool has_report() const noexcept { return has_report_.load(std::memory_order_acquire); }
  /// Calls the listeners that have not been called, if the device is lost, without a lock.
  void report();

private:
  mutable std::mutex mutex_;
  status reason_;
  std::vector<listener> listeners_;
  std::atomic<bool> may_run_{false}, has_report_{false};
};

} // namespace troupe::gpu
