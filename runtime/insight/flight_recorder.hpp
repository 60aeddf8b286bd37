// Records the last events of a task, to explain a step that fails or hangs.
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
  region_ran,      ///< index: the region
  wait_began,      ///< index: the wait, for a queue
  wait_ended,      ///< index: the wait, which its queue or the other device has answered
  sent,            ///< index: the export
  failed,          ///< regions stop from now on; index: the error's kind
  waits_cancelled, ///< the step's waits were cancelled
};

std::string_view to_string(flight_event kind) noexcept;

/// Has a ring buffer for each of eight groups of cores, 48 KiB in all; new events overwrite the
/// oldest. Any thread may note and read at any time without blocking. Two cores of one group may
/// overwrite each other's events, but a reader never gets an event that did not happen. Recording
/// an event costs about ten nanoseconds, most of them for reading the time.
class flight_recorder {
public:
  struct event {
    int64_t ns = 0; ///< steady clock
    uint64_t step = 0;
    flight_event kind = flight_event::step_began;
    uint32_t program = 0; ///< of the task's step
    uint32_t index = 0;
    uint32_t thread = 0;
  };

  void note(flight_event kind, uint64_t step, uint32_t program = 0, uint32_t index = 0) noexcept {
    auto thread = thread_number();
    auto& group_of_core = groups_[core_number() % groups];
    auto next = group_of_core.next.load(std::memory_order_relaxed);
    group_of_core.next.store(next + 1, std::memory_order_relaxed);
    auto& slot = group_of_core.slots[next % slots_per_group];
    auto ticks = ticks_now();
    auto where = uint64_t{index} << 32 | (program & 0xffff) << 16 | (thread & 0xff) << 8 |
                 static_cast<uint64_t>(kind);
    slot.ticks.store(ticks, std::memory_order_relaxed);
    slot.step.store(step, std::memory_order_relaxed);
    slot.where.store(where, std::memory_order_relaxed);
    slot.check.store(check_of(ticks, step, where), std::memory_order_relaxed);
  }

  /// Returns the scale from ticks to nanoseconds for ticks of recent events.
  tick_scale scale() const noexcept { return {created_, moment::now()}; }

  /// Returns the last events of one step, oldest first.
  std::vector<event> last_events(uint64_t step, size_t max_count) const;

private:
  static constexpr size_t groups = 8, slots_per_group = 192;

  struct slot {
    std::atomic<int64_t> ticks{0};
    std::atomic<uint64_t> step{0}, where{0};
    std::atomic<uint64_t> check{0}; // a hash of the others; differs if two events are mixed up
  };
  static uint64_t check_of(int64_t ticks, uint64_t step, uint64_t where) noexcept {
    return static_cast<uint64_t>(ticks) * 0x9e3779b97f4a7c15 + step * 0xc2b2ae3d27d4eb4f +
           where * 0x165667b19e3779f9;
  }
  struct alignas(64) group {
    std::atomic<uint64_t> next{0};
    std::array<slot, slots_per_group> slots;
  };

  const moment created_ = moment::now();
  std::array<group, groups> groups_;
};

} // namespace troupe
