#include "troupe/runtime/insight/flight_recorder.hpp"

#include <algorithm>

namespace troupe {

std::string_view to_string(flight_event what) noexcept {
  switch (what) {
    case flight_event::step_began: return "the step began";
    case flight_event::region_ran: return "ran";
    case flight_event::wait_began: return "began to wait for";
    case flight_event::wait_ended: return "got";
    case flight_event::sent: return "sent";
    case flight_event::failed: return "the step failed";
    case flight_event::queues_asked: return "asked its queues to forget it";
  }
  return "did something unknown";
}

std::vector<flight_recorder::event> flight_recorder::last_of(uint64_t step, size_t most) const {
  auto to_ns = scale();
  std::vector<event> found;
  for (const auto& group : groups_)
    for (const auto& from : group.places) {
      auto ticks = from.ticks.load(std::memory_order_relaxed);
      auto of = from.step.load(std::memory_order_relaxed);
      auto where = from.where.load(std::memory_order_relaxed);
      if (ticks == 0 || of != step ||
          from.check.load(std::memory_order_relaxed) != check_of(ticks, of, where))
        continue;
      found.push_back({.ns = to_ns.ns(ticks),
                       .step = of,
                       .what = static_cast<flight_event>(where & 0xff),
                       .program = static_cast<uint32_t>(where >> 16 & 0xffff),
                       .index = static_cast<uint32_t>(where >> 32),
                       .thread = static_cast<uint32_t>(where >> 8 & 0xff)});
    }
  std::ranges::stable_sort(found, {}, &event::ns);
  if (found.size() > most)
    found.erase(found.begin(), found.end() - static_cast<ptrdiff_t>(most));
  return found;
}

} // namespace troupe
