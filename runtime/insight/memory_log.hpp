// Notes down how much of a device's memory is in use while a step runs.
#pragma once
#include "troupe/runtime/device/memory_usage_source.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace troupe {

/// Has room for so many moments, made once; later ones are left out. Any thread may note.
class memory_log {
public:
  memory_log(const memory_usage_source& of, size_t most)
      : of_(of), most_(most), readings_(new reading[most]) {}

  /// Nobody may note meanwhile, except for those who note about an earlier step.
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
    auto at = count_.fetch_add(1, std::memory_order_relaxed);
    if (at >= most_)
      return;
    readings_[at].bytes.store(of_.bytes_in_use(), std::memory_order_relaxed);
    readings_[at].ticks.store(ticks_now(), std::memory_order_release);
  }

  /// Appends what was noted down since begin(), in order.
  void collect(memory_timeline& to) const {
    std::vector<std::pair<int64_t, uint64_t>> found;
    auto count = std::min(most_, count_.load(std::memory_order_relaxed));
    found.reserve(count);
    for (size_t i = 0; i < count; ++i)
      if (auto ticks = readings_[i].ticks.load(std::memory_order_acquire); ticks >= began_.ticks)
        found.emplace_back(ticks, readings_[i].bytes.load(std::memory_order_relaxed));
    std::ranges::sort(found);
    const tick_scale scale{began_, moment::now()};
    for (auto [ticks, bytes] : found) {
      to.at_ns.push_back(scale.ns(ticks));
      to.bytes.push_back(bytes);
    }
  }

private:
  struct reading {
    std::atomic<int64_t> ticks{0};
    std::atomic<uint64_t> bytes{0};
  };
  const memory_usage_source& of_;
  const size_t most_;
  std::unique_ptr<reading[]> readings_;
  moment began_;
  std::atomic<size_t> count_{0};
  std::atomic<bool> on_{false};
};

} // namespace troupe
