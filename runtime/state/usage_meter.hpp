// Measures how many elements a resource holds, and how long its requests wait.
#pragma once
#include "troupe/runtime/platform/tsc_clock.hpp"

#include <cstdint>

namespace troupe {

/// Waiting times of one kind of requests.
struct waiting_times {
  int64_t requests = 0;
  double total_seconds = 0;       ///< sum over all requests
  double any_waiting_seconds = 0; ///< time during which at least one request waited
};

/// The usage of a resource since its creation.
struct resource_usage {
  double seconds = 0;   ///< since the creation
  double mean_size = 0; ///< mean of waitable_resource::size() over that time
  waiting_times puts = {}, takes = {};
};

/// Not thread-safe. Costs a reading of the processor's time-stamp counter for each event.
class usage_meter {
public:
  enum side : uint8_t { puts, takes, neither };

  explicit usage_meter(moment now = moment::now()) : created_(now), last_(now.ticks) {}

  /// Accounts for the time since the last call, during which the size was `size`.
  void advance(int64_t size, int64_t now = ticks_now()) noexcept {
    auto passed = static_cast<double>(now - last_);
    last_ = now;
    size_ += passed * static_cast<double>(size > 0 ? size : 0);
    for (auto& requests : requests_) {
      requests.total += passed * static_cast<double>(requests.waiting);
      if (requests.waiting > 0)
        requests.some += passed;
    }
  }

  // A request arrives, begins to wait, and stops waiting.
  void count_arrival(side kind) noexcept { ++requests_[kind].requests; }
  void begin_wait(side kind) noexcept { ++requests_[kind].waiting; }
  void end_wait(side kind) noexcept { --requests_[kind].waiting; }

  /// Returns the usage up to the last advance().
  resource_usage usage(moment now = moment::now()) const noexcept {
    auto total_ticks = static_cast<double>(last_ - created_.ticks);
    auto ticks = static_cast<double>(now.ticks - created_.ticks);
    auto scale = ticks > 0 ? static_cast<double>(now.ns - created_.ns) / ticks * 1e-9 : 0;
    auto times_of = [&](const request_ticks& requests) {
      return waiting_times{requests.requests, requests.total * scale, requests.some * scale};
    };
    return {total_ticks * scale, total_ticks > 0 ? size_ / total_ticks : 0,
            times_of(requests_[puts]), times_of(requests_[takes])};
  }

private:
  struct request_ticks {
    int64_t requests = 0, waiting = 0;
    double total = 0, some = 0; // ticks
  };
  moment created_;
  int64_t last_;
  double size_ = 0; // integral of the size over ticks
  request_ticks requests_[3];
};

} // namespace troupe
