// Measures how a responder is used: how much it holds, and how long its requests wait.
#pragma once
#include "troupe/runtime/platform/tsc_clock.hpp"

#include <cstdint>

namespace troupe {

/// How long requests of one kind have waited.
struct waiting_times {
  int64_t requests = 0;
  double total_seconds = 0; ///< of all
  double some_seconds = 0;  ///< how long at least one of them waited
};

/// How a responder has been used.
struct responder_usage {
  double seconds = 0;   ///< since it was made
  double mean_size = 0; ///< of responder::size() over that time
  waiting_times puts = {}, takes = {};
};

/// Not thread-safe. Costs a reading of the processor's counter for each event.
class usage_meter {
public:
  enum side : uint8_t { puts, takes, neither };

  explicit usage_meter(moment now = moment::now()) : born_(now), last_(now.ticks) {}

  /// Time goes on, until now with that size.
  void advance(int64_t size, int64_t now = ticks_now()) noexcept {
    auto passed = static_cast<double>(now - last_);
    last_ = now;
    size_ += passed * static_cast<double>(size > 0 ? size : 0);
    for (auto& one : lines_) {
      one.total += passed * static_cast<double>(one.waiting);
      if (one.waiting > 0)
        one.some += passed;
    }
  }

  /// A request came; it waits from now on; it waits no more.
  void came(side to) noexcept { ++lines_[to].requests; }
  void waits(side to) noexcept { ++lines_[to].waiting; }
  void waited(side to) noexcept { --lines_[to].waiting; }

  /// Up to the last advance().
  responder_usage so_far(moment now = moment::now()) const noexcept {
    auto all = static_cast<double>(last_ - born_.ticks);
    auto ticks = static_cast<double>(now.ticks - born_.ticks);
    auto scale = ticks > 0 ? static_cast<double>(now.ns - born_.ns) / ticks * 1e-9 : 0;
    auto of = [&](const line& one) {
      return waiting_times{one.requests, one.total * scale, one.some * scale};
    };
    return {all * scale, all > 0 ? size_ / all : 0, of(lines_[puts]), of(lines_[takes])};
  }

private:
  struct line {
    int64_t requests = 0, waiting = 0;
    double total = 0, some = 0; // ticks
  };
  moment born_;
  int64_t last_;
  double size_ = 0; // times ticks
  line lines_[3];
};

} // namespace troupe
