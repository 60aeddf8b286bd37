// The launches of a GPU that a step or a download waits for, and the wake-ups of the device's
// thread.
#pragma once
#include "troupe/devices/gpu/core/device_errors.hpp"
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/devices/gpu/core/loss_record.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace troupe::gpu {

struct completion {
  event passed_event = nullptr; ///< after the launches; null: there are none
  std::function<void(status)> done;
  /// The launches whose device errors are passed to `done`; none: it gets no such errors.
  std::optional<device_error_flags::launches> launches = {};
};

/// Any thread may call push(), wake() and stop(), also with locks of the device.
class completion_queue {
public:
  explicit completion_queue(const loss_record& loss) noexcept : loss_(loss) {}

  void push(completion added);
  /// Called after loss_record::has_report() has changed.
  void wake();
  void stop();
  /// Returns whether stop() was called longer ago than that.
  bool has_stopped_for(std::chrono::nanoseconds time) const;

  enum class work {
    completion, ///< `next` is the oldest one
    report,     ///< of the loss, which comes before the completions
    idle,       ///< nothing for `idle_after`
    none        ///< stopped, and all completions were taken
  };
  /// Waits for work of the device's thread. `idle_after` 0: never idle.
  work wait(completion& next, std::chrono::milliseconds idle_after);

private:
  const loss_record& loss_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<completion> queue_;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;
};

} // namespace troupe::gpu
