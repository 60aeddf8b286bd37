#include "troupe/runtime/insight/link_times.hpp"

#include <algorithm>
#include <unordered_map>

namespace troupe {
namespace {

constexpr uint64_t small_bytes = 4096, large_bytes = 64 * 1024;

// The number of recent tensors that a mean is over.
constexpr uint64_t memory = 100;

void blend(double& mean, uint64_t& count, double value) {
  ++count;
  mean += (value - mean) / static_cast<double>(std::min(count, memory));
}

// One end of a transfer: a send, or the wait for its tensor. Ends that occur several times in a
// step cannot be paired, and are ignored.
struct end_of_link {
  const step_span* span = nullptr;
  const std::string* task = nullptr;
  bool is_repeated = false;
};

} // namespace

void link_times::add(const step_statistics& step) {
  std::unordered_map<uint32_t, end_of_link> sends, waits; // by key
  for (const auto& task : step.tasks)
    for (const auto& span : task.spans) {
      const auto& subject = task.subject_of(span);
      auto is_send = subject.kind == span_kind::send;
      if (subject.peer.empty() || (!is_send && subject.kind != span_kind::wait))
        continue;
      auto& seen = (is_send ? sends : waits)[subject.key];
      seen.is_repeated = seen.span != nullptr;
      seen.span = &span;
      seen.task = &task.task;
    }
  std::lock_guard guard{mutex_};
  for (const auto& [key, wait] : waits) {
    auto send = sends.find(key);
    if (send == sends.end() || send->second.is_repeated || wait.is_repeated ||
        *send->second.task == *wait.task)
      continue;
    std::pair link_key{*send->second.task, *wait.task};
    if (links_.size() >= max_links && !links_.contains(link_key))
      continue;
    auto& link = links_[link_key];
    link.from = link_key.first;
    link.to = link_key.second;
    auto duration_ns =
        static_cast<double>(std::max<int64_t>(0, wait.span->end_ns - send->second.span->begin_ns));
    if (wait.span->bytes <= small_bytes)
      blend(link.latency_ns, link.small_count, duration_ns);
    else if (wait.span->bytes >= large_bytes)
      blend(link.ns_per_byte, link.large_count,
            std::max(0.0, duration_ns - link.latency_ns) / static_cast<double>(wait.span->bytes));
  }
}

std::vector<link_time> link_times::list() const {
  std::lock_guard guard{mutex_};
  std::vector<link_time> times;
  for (const auto& [link_key, link] : links_)
    if (link.small_count > 0 || link.large_count > 0)
      times.push_back(link);
  return times;
}

bool link_times::empty() const {
  std::lock_guard guard{mutex_};
  return links_.empty();
}

} // namespace troupe
