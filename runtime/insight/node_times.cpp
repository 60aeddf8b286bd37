#include "troupe/runtime/insight/node_times.hpp"

#include <algorithm>

namespace troupe {

namespace {

// The number of graphs to remember. The numbers of graphs rise: the lowest is the oldest.
constexpr size_t max_graphs = 64;

} // namespace

void node_times::add(const step_statistics& step, uint64_t graph) {
  std::lock_guard guard{mutex_};
  auto& times = times_[graph];
  for (const auto& task : step.tasks)
    for (const auto& span : task.spans) {
      const auto& subject = task.subject_of(span);
      if (subject.kind != span_kind::node || span.thread >= device_tracks)
        continue; // only the time that a node occupies a host thread counts
      add({.node = subject.name,
           .device = subject.device,
           .runs = 1,
           .mean_ns = static_cast<double>(span.end_ns - span.begin_ns),
           .mean_bytes = static_cast<double>(span.bytes)},
          times);
    }
  if (times_.size() > max_graphs)
    if (auto oldest = times_.upper_bound(any_graph); oldest->first != graph)
      times_.erase(oldest);
}

void node_times::add(const node_time& measured) {
  std::lock_guard guard{mutex_};
  add(measured, times_[any_graph]);
}

void node_times::add(const node_time& measured, by_name& times) {
  if (measured.runs == 0)
    return;
  auto& known = times[measured.node];
  if (known.device != measured.device) // drops the times on another device
    known = {.node = measured.node, .device = measured.device};
  known.runs += measured.runs;
  auto weight = static_cast<double>(measured.runs) / static_cast<double>(known.runs);
  known.mean_ns += (measured.mean_ns - known.mean_ns) * weight;
  known.mean_bytes += (measured.mean_bytes - known.mean_bytes) * weight;
}

std::optional<node_time> node_times::find(std::string_view node, uint64_t graph) const {
  std::lock_guard guard{mutex_};
  for (auto candidate : {graph, any_graph})
    if (auto times = times_.find(candidate); times != times_.end())
      if (auto found_node = times->second.find(node); found_node != times->second.end())
        return found_node->second;
  return {};
}

void node_times::copy_to(node_times& to, uint64_t graph) const {
  std::scoped_lock guard{mutex_, to.mutex_};
  auto& copies = to.times_[any_graph];
  for (auto source_graph : {graph, any_graph})
    if (auto times = times_.find(source_graph); times != times_.end())
      copies.insert(times->second.begin(), times->second.end());
}

bool node_times::empty() const {
  std::lock_guard guard{mutex_};
  return std::ranges::all_of(times_, [](const auto& entry) { return entry.second.empty(); });
}

std::vector<node_time> node_times::list() const {
  std::lock_guard guard{mutex_};
  by_name best_measured;
  for (const auto& [graph, times] : times_)
    for (const auto& [name, time] : times)
      if (auto& best = best_measured[name]; best.runs < time.runs)
        best = time;
  std::vector<node_time> times_by_name;
  for (const auto& [name, time] : best_measured)
    times_by_name.push_back(time);
  return times_by_name;
}

} // namespace troupe
