// Records the memory in use on a device while a step runs.
#pragma once
#include "troupe/runtime/device/memory_usage_source.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace troupe {

/// Holds up to `capacity` readings, allocated once; later readings are dropped. Any thread may call
/// note().
class memory_log {
public:
  memory_log(const memory_usage_source& source, size_t capacity)
      : source_(source), capacity_(capacity), readings_(new reading[capacity]) {}

  /// Starts a new log. No thread may note readings of this step meanwhile; notes of an earlier step
  /// may still come.
  void begin() noexcept {
    count_.store(0, std::memory_order_relaxed);
    began_ = moment::now();
    on_.store(true, std::memory_order_release);
    note();
  }
  void end() noexcept { on_.store(false, std::memory_order_relaxed); }

  void note() noexcept {
    if (!on_.load(std::memory_order_acquire))
      return;
    auto slot = count_.fetch_add(1, std::memory_order_relaxed);
    if (slot >= capacity_)
      return;
    readings_[slot].bytes.store(source_.bytes_in_use(), std::memory_order_relaxed);
    readings_[slot].ticks.store(ticks_now(), std::memory_order_release);
  }

  /// Appends the readings since begin(), in order of time.
  void collect(memory_timeline& to) const {
    std::vector<std::pair<int64_t, uint64_t>> readings;
    auto count = std::min(capacity_, count_.load(std::memory_order_relaxed));
    readings.reserve(count);
    for (size_t i = 0; i < count; ++i)
      if (auto ticks = readings_[i].ticks.load(std::memory_order_acquire); ticks >= began_.ticks)
        readings.emplace_back(ticks, readings_[i].bytes.load(std::memory_order_relaxed));
    std::ranges::sort(readings);
    const tick_scale scale{began_, moment::now()};
    for (auto [ticks, bytes] : readings) {
      to.at_ns.push_back(scale.ns(ticks));
      to.bytes.push_back(bytes);
    }
  }

private:
  struct reading {
    std::atomic<int64_t> ticks{0};
    std::atomic<uint64_t> bytes{0};
  };
  const memory_usage_source& source_;
  const size_t capacity_;
  std::unique_ptr<reading[]> readings_;
  moment began_;
  std::atomic<size_t> count_{0};
  std::atomic<bool> on_{false};
};

} // namespace troupe
