#include "troupe/runtime/insight/node_times.hpp"

namespace troupe {

void node_times::add(const step_statistics& step) {
  std::lock_guard guard{mutex_};
  for (const auto& task : step.tasks)
    for (const auto& span : task.spans) {
      const auto& subject = task.subject_of(span);
      if (subject.kind != span_kind::node || span.thread >= device_tracks)
        continue; // threads decide by what keeps a thread busy
      add({.node = subject.name,
           .device = subject.device,
           .runs = 1,
           .mean_ns = static_cast<double>(span.end_ns - span.begin_ns),
           .mean_bytes = static_cast<double>(span.bytes)},
          guard);
    }
}

void node_times::add(const node_time& known) {
  std::lock_guard guard{mutex_};
  add(known, guard);
}

void node_times::add(const node_time& more, std::lock_guard<std::mutex>&) {
  if (more.runs == 0)
    return;
  auto& known = times_[more.node];
  if (known.device != more.device) // it has moved: what was measured elsewhere means nothing
    known = {.node = more.node, .device = more.device};
  known.runs += more.runs;
  auto weight = static_cast<double>(more.runs) / static_cast<double>(known.runs);
  known.mean_ns += (more.mean_ns - known.mean_ns) * weight;
  known.mean_bytes += (more.mean_bytes - known.mean_bytes) * weight;
}

std::optional<node_time> node_times::find(std::string_view node) const {
  std::lock_guard guard{mutex_};
  auto it = times_.find(node);
  return it == times_.end() ? std::nullopt : std::optional{it->second};
}

bool node_times::empty() const {
  std::lock_guard guard{mutex_};
  return times_.empty();
}

std::vector<node_time> node_times::all() const {
  std::lock_guard guard{mutex_};
  std::vector<node_time> known;
  for (const auto& [name, time] : times_)
    known.push_back(time);
  return known;
}

} // namespace troupe
