#include "troupe/actors/execution/iteration_times.hpp"

#include "troupe/actors/execution/task_program.hpp"

namespace troupe {

void iteration_times::add(const task_instance& iteration) {
  task_statistics times;
  iteration.collect_spans(times);
  std::lock_guard lock{mutex_};
  messages_ += times.messages;
  expected_messages_ += times.expected_messages;
  auto& sums = sums_[&iteration.program()];
  for (const auto& span : times.spans) {
    auto kind = times.subject_of(span).kind;
    if (kind == span_kind::region || kind == span_kind::wait)
      continue;
    auto& total = sums[{span.subject, span.thread < device_tracks ? 0 : span.thread}];
    total.begin_ns = total.runs == 0 ? span.begin_ns : std::min(total.begin_ns, span.begin_ns);
    total.took_ns += span.end_ns - span.begin_ns;
    total.bytes += span.bytes;
    total.runs += span.runs;
  }
}

void iteration_times::collect(const task_program& program, task_statistics& to) const {
  std::lock_guard lock{mutex_};
  to.messages += messages_;
  to.expected_messages += expected_messages_;
  for (const auto& [function, sums] : sums_) {
    auto first = program.first_subject_of(*function);
    for (const auto& [key, total] : sums)
      to.spans.push_back({first + key.first, key.second, total.begin_ns,
                          total.begin_ns + total.took_ns, total.bytes, total.runs});
  }
}

void iteration_times::reset() noexcept {
  std::lock_guard lock{mutex_};
  sums_.clear();
  messages_ = expected_messages_ = {};
}

} // namespace troupe
