#include "troupe/actors/execution/flight_report.hpp"

#include "troupe/actors/execution/step_waits.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/simulation.hpp"

#include <cstdio>

namespace troupe {
namespace {

constexpr size_t max_waits = 16, max_events = 16, longest_report = 4096, longest_error = 16 * 1024;

class report {
public:
  report(task_instance& instance, uint64_t step)
      : instance_(instance), step_(step), now_(steady_ns()) {}

  std::string text() {
    add_waits();
    if (lines_.empty())
      text_ += concat("\n  ", instance_.program().task(), " waited for nothing");
    else
      text_ += concat("\n  ", instance_.program().task(), " waited for", lines_);
    add_events();
    if (text_.size() > longest_report)
      text_.replace(text_.rfind('\n', longest_report), std::string::npos, "\n    and more");
    return std::move(text_);
  }

private:
  // In a simulation, ticks do not count virtual time.
  std::string time_since(int64_t begin_ns) const {
    return running_simulation ? "some time" : readable_time(now_ - begin_ns);
  }

  void add_line(const auto&... parts) {
    if (++count_ <= max_waits)
      lines_ += concat("\n    ", parts...);
    else if (count_ == max_waits + 1)
      lines_ += "\n    and more";
  }

  void add_waits() {
    for (const auto& wait : waits_of_step(instance_, step_, max_waits + 1))
      add_line(troupe::describe(wait), wait.detail.empty() ? "" : concat(" (", wait.detail, ')'),
               wait.kind == step_wait::wait_kind::region ? ", which has run for " : ", for ",
               time_since(wait.since_ns));
  }

  void add_events() {
    auto events = instance_.program().recorder().last_events(step_, max_events);
    if (events.empty())
      return;
    text_ += concat("\n  ", instance_.program().task(), " did last");
    for (const auto& event : events)
      text_ += concat("\n    ", time_since(event.ns), " ago: ", describe(event));
  }

  std::string describe(const flight_recorder::event& event) const {
    auto verb = std::string{to_string(event.kind)};
    auto [owner, frame, number] = instance_.program().program_of(event.program);
    if (!owner)
      return verb;
    if (frame)
      verb = concat("in ", frame->description, ' ', verb);
    const auto& part = *owner->programs()[number];
    switch (event.kind) {
      case flight_event::region_ran:
        return event.index < part.regions().size() ? verb + ' ' + describe_region(part, event.index)
                                                   : verb;
      case flight_event::wait_began:
      case flight_event::wait_ended:
        return event.index < part.waits().size()
                   ? verb + ' ' + troupe::describe(wait_of(instance_.program(), part, event.index))
                   : verb;
      case flight_event::sent:
        return event.index < part.exports().size()
                   ? concat(verb, ' ', part.exports()[event.index].origin->description(), " to ",
                            part.exports()[event.index].to)
                   : verb;
      case flight_event::failed:
        return concat(verb, ": ", to_string(static_cast<error_kind>(event.index)));
      default: return verb;
    }
  }

  task_instance& instance_;
  const uint64_t step_;
  const int64_t now_;
  size_t count_ = 0;
  std::string lines_, text_;
};

} // namespace

bool wants_flight_report(const status& why) noexcept {
  return why.kind() == error_kind::deadline_exceeded || why.kind() == error_kind::cancelled;
}

std::string flight_report(task_instance& instance, uint64_t step) {
  return report{instance, step}.text();
}

status without_reports(const status& why) {
  return {why.kind(), why.message().substr(0, why.message().find('\n'))};
}

void add_reports(status& first_cause, const status& answer) {
  if (!wants_flight_report(answer))
    return;
  auto begin = answer.message().find('\n');
  if (begin == std::string::npos || first_cause.message().size() >= longest_error)
    return;
  auto lines = answer.message().substr(begin, longest_error - first_cause.message().size());
  first_cause = status{first_cause.kind(), first_cause.message() + lines};
}

std::string readable_time(int64_t ns) {
  char text[32];
  if (ns < 1'000'000)
    std::snprintf(text, sizeof text, "%.0f us", static_cast<double>(ns) / 1e3);
  else if (ns < 1'000'000'000)
    std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(ns) / 1e6);
  else
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
  return text;
}

} // namespace troupe
