#include "troupe/runtime/insight/node_times.hpp"

#include <algorithm>

namespace troupe {

namespace {

// Of graphs; the numbers of graphs rise, so that the least is the oldest.
constexpr size_t max_graphs = 64;

} // namespace

void node_times::add(const step_statistics& step, uint64_t graph) {
  std::lock_guard guard{mutex_};
  auto& times = times_[graph];
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
          times);
    }
  if (times_.size() > max_graphs)
    if (auto oldest = times_.upper_bound(any_graph); oldest->first != graph)
      times_.erase(oldest);
}

void node_times::add(const node_time& known) {
  std::lock_guard guard{mutex_};
  add(known, times_[any_graph]);
}

void node_times::add(const node_time& more, by_name& to) {
  if (more.runs == 0)
    return;
  auto& known = to[more.node];
  if (known.device != more.device) // it has moved: what was measured elsewhere means nothing
    known = {.node = more.node, .device = more.device};
  known.runs += more.runs;
  auto weight = static_cast<double>(more.runs) / static_cast<double>(known.runs);
  known.mean_ns += (more.mean_ns - known.mean_ns) * weight;
  known.mean_bytes += (more.mean_bytes - known.mean_bytes) * weight;
}

std::optional<node_time> node_times::find(std::string_view node, uint64_t graph) const {
  std::lock_guard guard{mutex_};
  for (auto one : {graph, any_graph})
    if (auto times = times_.find(one); times != times_.end())
      if (auto it = times->second.find(node); it != times->second.end())
        return it->second;
  return {};
}

void node_times::copy_to(node_times& to, uint64_t graph) const {
  std::scoped_lock guard{mutex_, to.mutex_};
  auto& copies = to.times_[any_graph];
  for (auto one : {graph, any_graph})
    if (auto times = times_.find(one); times != times_.end())
      copies.insert(times->second.begin(), times->second.end());
}

bool node_times::empty() const {
  std::lock_guard guard{mutex_};
  return std::ranges::all_of(times_, [](const auto& one) { return one.second.empty(); });
}

std::vector<node_time> node_times::all() const {
  std::lock_guard guard{mutex_};
  by_name most;
  for (const auto& [graph, times] : times_)
    for (const auto& [name, time] : times)
      if (auto& best = most[name]; best.runs < time.runs)
        best = time;
  std::vector<node_time> known;
  for (const auto& [name, time] : most)
    known.push_back(time);
  return known;
}

} // namespace troupe
