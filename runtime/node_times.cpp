#include "troupe/runtime/node_times.hpp"

namespace troupe {

void node_times::add(const step_statistics& step) {
  std::lock_guard guard{mutex_};
  for (const auto& task : step.tasks)
    for (const auto& span : task.spans) {
      const auto& subject = task.subject_of(span);
      if (subject.kind != span_kind::node)
        continue;
      auto& known = times_[subject.name];
      if (known.device != subject.device) // it has moved: what was measured elsewhere means nothing
        known = {.node = subject.name, .device = subject.device};
      auto runs = static_cast<double>(++known.runs);
      known.mean_ns += (static_cast<double>(span.end_ns - span.begin_ns) - known.mean_ns) / runs;
      known.mean_bytes += (static_cast<double>(span.bytes) - known.mean_bytes) / runs;
    }
}

std::optional<node_time> node_times::find(std::string_view node) const {
  std::lock_guard guard{mutex_};
  auto it = times_.find(node);
  return it == times_.end() ? std::nullopt : std::optional{it->second};
}

std::vector<node_time> node_times::all() const {
  std::lock_guard guard{mutex_};
  std::vector<node_time> known;
  for (const auto& [name, time] : times_)
    known.push_back(time);
  return known;
}

} // namespace troupe
