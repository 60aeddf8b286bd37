#include "troupe/actors/flight_report.hpp"

#include "troupe/actors/region.hpp"
#include "troupe/actors/task_program.hpp"
#include "troupe/runtime/simulation.hpp"

#include <cstdio>

namespace troupe {
namespace {

constexpr size_t max_waits = 16, max_events = 16, longest_report = 4096, longest_error = 16 * 1024;

class report {
public:
  report(task_instance& of, uint64_t step)
      : in_(of), step_(step), scale_(of.program().recorder().scale()), now_(steady_ns()) {}

  std::string text() {
    add_waits();
    add_running();
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
  const program& part(uint32_t p) const { return in_.part(p).program(); }

  std::string since(int64_t ticks) const { return since_ns(scale_.ns(ticks)); }
  // The time of a simulation is not what ticks count.
  std::string since_ns(int64_t ns) const {
    return running_simulation ? "some time" : readable_time(now_ - ns);
  }

  std::string describe(const wait_point& wait) const {
    if (is_collective(wait.origin->op()))
      return concat(wait.origin->description(), " of group ",
                    wait.origin->attr<int64_t>("group_key"));
    if (wait.by == answered_by::state)
      return concat(wait.origin->description(), " on ", to_string(wait.state->op().makes), " '",
                    wait.state->name(), '\'');
    if (wait.by == answered_by::work)
      return concat(wait.origin->description(), ", which reads or writes files");
    if (wait.by == answered_by::frame)
      return concat("the functions of ", in_.root().program().frame_of(wait)->description);
    if (wait.by == answered_by::caller)
      return concat("argument ", wait.origin->attr<int64_t>("index"));
    return concat(wait.origin->description(), " from ", wait.origin->attr<std::string>("from"));
  }

  void add_line(const auto&... parts) {
    if (++count_ <= max_waits)
      lines_ += concat("\n    ", parts...);
    else if (count_ == max_waits + 1)
      lines_ += "\n    and more";
  }

  void add_waits() {
    for (uint32_t p = 0; p < in_.program().programs().size(); ++p)
      for (uint32_t i = 0; i < part(p).waits().size(); ++i)
        if (auto ticks = in_.waits_since(p, i))
          add_line(describe(part(p).waits()[i]), peers(p, i), ", for ", since(ticks));
  }

  // Of a collective operation, who else has come.
  std::string peers(uint32_t p, uint32_t wait) const {
    auto seat = in_.program().seat(p, wait);
    return seat.group == collective_seat::none
               ? ""
               : concat(" (", in_.meeting(seat.group).describe_missing(), ')');
  }

  void add_running() {
    for (uint32_t p = 0; p < in_.program().programs().size(); ++p)
      for (uint32_t r = 0; r < part(p).regions().size(); ++r)
        if (auto ticks = in_.runs_since(p, r).load(std::memory_order_relaxed))
          add_line(region(p, r), ", which has run for ", since(ticks));
  }

  std::string region(uint32_t p, uint32_t r) const {
    const auto& which = part(p).regions()[r];
    auto text = concat("region ", r, " of ", which.count,
                       which.count == 1 ? " instruction" : " instructions");
    for (uint32_t i = 0; i < which.count; ++i)
      if (const auto* first = part(p).code()[which.first + i].origin)
        return text + " from " + first->description();
    return text;
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
    if (of.program >= in_.program().programs().size())
      return verb;
    const auto& from = part(of.program);
    switch (of.what) {
      case flight_event::region_ran:
        return of.index < from.regions().size() ? verb + ' ' + region(of.program, of.index) : verb;
      case flight_event::wait_began:
      case flight_event::wait_ended:
        return of.index < from.waits().size() ? verb + ' ' + describe(from.waits()[of.index])
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
  const tick_scale scale_;
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
