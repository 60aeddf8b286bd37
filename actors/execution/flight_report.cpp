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
  report(task_instance& of, uint64_t step) : in_(of), step_(step), now_(steady_ns()) {}

  std::string text() {
    add_waits();
    if (lines_.empty())
      text_ += concat("\n  ", in_.program().task(), " waited for nothing");
    else
      text_ += concat("\n  ", in_.program().task(), " waited for", lines_);
    add_events();
    if (text_.size() > longest_report)
      text_.replace(text_.rfind('\n', longest_report), std::string::npos, "\n    and more");
    return std::move(text_);
  }

private:
  // The time of a simulation is not what ticks count.
  std::string since_ns(int64_t ns) const {
    return running_simulation ? "some time" : readable_time(now_ - ns);
  }

  void add_line(const auto&... parts) {
    if (++count_ <= max_waits)
      lines_ += concat("\n    ", parts...);
    else if (count_ == max_waits + 1)
      lines_ += "\n    and more";
  }

  void add_waits() {
    for (const auto& one : waits_of_step(in_, step_, max_waits + 1))
      add_line(troupe::describe(one), one.detail.empty() ? "" : concat(" (", one.detail, ')'),
               one.what == step_wait::on::region ? ", which has run for " : ", for ",
               since_ns(one.since_ns));
  }

  void add_events() {
    auto events = in_.program().recorder().last_of(step_, max_events);
    if (events.empty())
      return;
    text_ += concat("\n  ", in_.program().task(), " did last");
    for (const auto& one : events)
      text_ += concat("\n    ", since_ns(one.ns), " ago: ", describe(one));
  }

  std::string describe(const flight_recorder::event& of) const {
    auto verb = std::string{to_string(of.what)};
    auto [by, frame, number] = in_.program().program_of(of.program);
    if (!by)
      return verb;
    if (frame)
      verb = concat("in ", frame->description, ' ', verb);
    const auto& from = *by->programs()[number];
    switch (of.what) {
      case flight_event::region_ran:
        return of.index < from.regions().size() ? verb + ' ' + describe_region(from, of.index)
                                                : verb;
      case flight_event::wait_began:
      case flight_event::wait_ended:
        return of.index < from.waits().size()
                   ? verb + ' ' + troupe::describe(wait_of(in_.program(), from, of.index))
                   : verb;
      case flight_event::sent:
        return of.index < from.exports().size()
                   ? concat(verb, ' ', from.exports()[of.index].origin->description(), " to ",
                            from.exports()[of.index].to)
                   : verb;
      case flight_event::failed:
        return concat(verb, ": ", to_string(static_cast<error_kind>(of.index)));
      default: return verb;
    }
  }

  task_instance& in_;
  const uint64_t step_;
  const int64_t now_;
  size_t count_ = 0;
  std::string lines_, text_;
};

} // namespace

bool wants_flight_report(const status& why) noexcept {
  return why.kind() == error_kind::deadline_exceeded || why.kind() == error_kind::cancelled;
}

std::string flight_report(task_instance& of, uint64_t step) { return report{of, step}.text(); }

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
