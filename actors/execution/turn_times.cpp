#include "troupe/actors/execution/turn_times.hpp"

#include "troupe/actors/execution/task_program.hpp"

namespace troupe {

void turn_times::add(const task_instance& turn) {
  task_statistics found;
  turn.collect_spans(found);
  std::lock_guard lock{mutex_};
  auto& sums = sums_[&turn.program()];
  for (const auto& span : found.spans) {
    auto kind = found.subject_of(span).kind;
    if (kind == span_kind::region || kind == span_kind::wait)
      continue;
    auto& to = sums[{span.subject, span.thread < device_tracks ? 0 : span.thread}];
    to.begin_ns = to.runs == 0 ? span.begin_ns : std::min(to.begin_ns, span.begin_ns);
    to.took_ns += span.end_ns - span.begin_ns;
    to.bytes += span.bytes;
    to.runs += span.runs;
  }
}

void turn_times::collect(const task_program& of, task_statistics& to) const {
  std::lock_guard lock{mutex_};
  for (const auto& [function, sums] : sums_) {
    auto first = of.first_subject_of(*function);
    for (const auto& [where, one] : sums)
      to.spans.push_back({first + where.first, where.second, one.begin_ns,
                          one.begin_ns + one.took_ns, one.bytes, one.runs});
  }
}

void turn_times::reset() noexcept {
  std::lock_guard lock{mutex_};
  sums_.clear();
}

} // namespace troupe
