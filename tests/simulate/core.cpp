#include "tests/simulate/core.hpp"

#include <algorithm>

namespace troupe::simulate {
namespace {

// Not zero: a time that was never set must not appear recent.
constexpr time_point start{std::chrono::seconds{1000}};

} // namespace

std::string_view to_string(fault_kind kind) {
  constexpr std::string_view names[] = {"loss",    "partition", "pause", "crash", "shortage",
                                        "buggify", "reopen",    "reset", "split"};
  return names[static_cast<size_t>(kind)];
}

core::core(const options& chosen, bool tracing) : settings(chosen), now(start), tracing_(tracing) {
  set_time(now);
}

void core::at(time_point when, std::function<void()> act) {
  events_.push({std::max(when, now), next_number_++, std::move(act)});
}

time_point core::next_event() const {
  return events_.empty() ? time_point::max() : events_.top().when;
}

void core::run_event() {
  auto act = std::move(const_cast<event&>(events_.top()).act);
  events_.pop();
  act();
}

void core::print(std::string_view subject, std::string_view action,
                 const std::string& details) const {
  auto us = std::chrono::duration_cast<std::chrono::microseconds>(now - start).count();
  auto line = details.substr(0, details.find('\n'));
  std::printf("%11.6f  %-20.*s %-10.*s %s\n", static_cast<double>(us) / 1e6,
              static_cast<int>(subject.size()), subject.data(), static_cast<int>(action.size()),
              action.data(), line.c_str());
}

size_t core::begin_fault(fault new_fault) {
  faults_.push_back(new_fault);
  return faults_.size() - 1;
}

bool core::had_fault(std::initializer_list<fault_kind> kinds, const std::vector<int>& processes,
                     time_point from, time_point to) const {
  auto touches = [&](int index) {
    return index < 0 || std::ranges::find(processes, index) != processes.end();
  };
  return std::ranges::any_of(faults_, [&](const fault& injected) {
    return std::ranges::find(kinds, injected.kind) != kinds.end() && injected.begin <= to &&
           injected.end >= from &&
           (touches(injected.first) || (injected.second >= 0 && touches(injected.second)));
  });
}

} // namespace troupe::simulate
