// Notes down how much of a device's memory is in use while a step runs.
#pragma once
#include "troupe/runtime/device.hpp"
#include "troupe/runtime/step_statistics.hpp"
#include "troupe/runtime/ticks.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace troupe {

/// Has room for so many moments, made once; later ones are left out. Any thread may note.
class memory_log {
public:
  explicit memory_log(size_t most) : most_(most), moments_(new moment[most]) {}

  /// Nobody may note meanwhile, except for those who note about an earlier step.
  void begin(const device& of) noexcept {
    of_ = &of;
    count_.store(0, std::memory_order_relaxed);
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
    auto in_use = of_->statistics().in_use;
    moments_[at].bytes.store(in_use, std::memory_order_relaxed);
    moments_[at].ns.store(steady_ns(), std::memory_order_release);
  }

  /// Appends what was noted down since begin(), in order.
  void collect(memory_timeline& to) const {
    std::vector<std::pair<int64_t, uint64_t>> found;
    auto since = moments_[0].ns.load(std::memory_order_acquire);
    for (size_t i = 0; i < std::min(most_, count_.load(std::memory_order_relaxed)); ++i)
      if (auto ns = moments_[i].ns.load(std::memory_order_acquire); ns >= since)
        found.emplace_back(ns, moments_[i].bytes.load(std::memory_order_relaxed));
    std::ranges::sort(found);
    for (auto [ns, bytes] : found) {
      to.at_ns.push_back(ns);
      to.bytes.push_back(bytes);
    }
  }

private:
  struct moment {
    std::atomic<int64_t> ns{0};
    std::atomic<uint64_t> bytes{0};
  };
  const size_t most_;
  std::unique_ptr<moment[]> moments_;
  std::atomic<size_t> count_{0};
  std::atomic<bool> on_{false};
  const device* of_ = nullptr;
};

} // namespace troupe
