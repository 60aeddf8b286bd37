// The last things that a task did, for when a step of it does not end well.
#pragma once
#include "troupe/runtime/platform/thread_number.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"

#include <array>
#include <atomic>
#include <string_view>
#include <vector>

namespace troupe {

enum class flight_event : uint8_t {
  step_began,
  region_ran,   ///< index: the region
  wait_began,   ///< index: the wait, for a queue
  wait_ended,   ///< index: the wait; its queue or the other device has answered
  sent,         ///< index: the export
  failed,       ///< from now on regions stop; index: the error's kind
  queues_asked, ///< to forget what the step waits for
};

std::string_view to_string(flight_event what) noexcept;

/// Keeps the last events of each of some groups of cores, in 48 KiB, and forgets older ones. Any
/// thread may note and read at once, and nobody waits for anybody: cores that share a group may
/// lose an event to each other, but never read one that did not happen. An event costs some ten
/// nanoseconds, most of them to read the time.
class flight_recorder {
public:
  struct event {
    int64_t ns = 0; ///< steady clock
    uint64_t step = 0;
    flight_event what = flight_event::step_began;
    uint32_t program = 0; ///< of the task's step
    uint32_t index = 0;
    uint32_t thread = 0;
  };

  void note(flight_event what, uint64_t step, uint32_t program = 0, uint32_t index = 0) noexcept {
    auto thread = thread_number();
    auto& in = groups_[core_number() % groups];
    auto next = in.next.load(std::memory_order_relaxed);
    in.next.store(next + 1, std::memory_order_relaxed);
    auto& to = in.places[next % places_in_group];
    auto ticks = ticks_now();
    auto where = uint64_t{index} << 32 | (program & 0xffff) << 16 | (thread & 0xff) << 8 |
                 static_cast<uint64_t>(what);
    to.ticks.store(ticks, std::memory_order_relaxed);
    to.step.store(step, std::memory_order_relaxed);
    to.where.store(where, std::memory_order_relaxed);
    to.check.store(check_of(ticks, step, where), std::memory_order_relaxed);
  }

  /// Turns ticks of about now into nanoseconds.
  tick_scale scale() const noexcept { return {made_, moment::now()}; }

  /// The last events of one step, oldest first, at most so many.
  std::vector<event> last_of(uint64_t step, size_t most) const;

private:
  static constexpr size_t groups = 8, places_in_group = 192;

  struct place {
    std::atomic<int64_t> ticks{0};
    std::atomic<uint64_t> step{0}, where{0};
    std::atomic<uint64_t> check{0}; // fits the others, unless they belong to different events
  };
  static uint64_t check_of(int64_t ticks, uint64_t step, uint64_t where) noexcept {
    return static_cast<uint64_t>(ticks) * 0x9e3779b97f4a7c15 + step * 0xc2b2ae3d27d4eb4f +
           where * 0x165667b19e3779f9;
  }
  struct alignas(64) group {
    std::atomic<uint64_t> next{0};
    std::array<place, places_in_group> places;
  };

  const moment made_ = moment::now();
  std::array<group, groups> groups_;
};

} // namespace troupe
