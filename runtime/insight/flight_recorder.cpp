#include "troupe/runtime/insight/flight_recorder.hpp"

#include <algorithm>

namespace troupe {

std::string_view to_string(flight_event kind) noexcept {
  switch (kind) {
    case flight_event::step_began: return "the step began";
    case flight_event::region_ran: return "ran";
    case flight_event::wait_began: return "began to wait for";
    case flight_event::wait_ended: return "got";
    case flight_event::sent: return "sent";
    case flight_event::failed: return "the step failed";
    case flight_event::waits_cancelled: return "cancelled its waits";
  }
  return "unknown event";
}

std::vector<flight_recorder::event> flight_recorder::last_events(uint64_t step,
                                                                 size_t max_count) const {
  auto to_ns = scale();
  std::vector<event> events;
  for (const auto& group : groups_)
    for (const auto& slot : group.slots) {
      auto ticks = slot.ticks.load(std::memory_order_relaxed);
      auto event_step = slot.step.load(std::memory_order_relaxed);
      auto where = slot.where.load(std::memory_order_relaxed);
      if (ticks == 0 || event_step != step ||
          slot.check.load(std::memory_order_relaxed) != check_of(ticks, event_step, where))
        continue;
      events.push_back({.ns = to_ns.ns(ticks),
                        .step = event_step,
                        .kind = static_cast<flight_event>(where & 0xff),
                        .program = static_cast<uint32_t>(where >> 16 & 0xffff),
                        .index = static_cast<uint32_t>(where >> 32),
                        .thread = static_cast<uint32_t>(where >> 8 & 0xff)});
    }
  std::ranges::stable_sort(events, {}, &event::ns);
  if (events.size() > max_count)
    events.erase(events.begin(), events.end() - static_cast<ptrdiff_t>(max_count));
  return events;
}

} // namespace troupe
