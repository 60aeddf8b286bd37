#include "troupe/runtime/insight/link_times.hpp"

#include <algorithm>
#include <unordered_map>

namespace troupe {
namespace {

constexpr uint64_t small_bytes = 4096, large_bytes = 64 * 1024;

// How many of the last count.
constexpr uint64_t memory = 100;

void blend(double& mean, uint64_t& count, double value) {
  ++count;
  mean += (value - mean) / static_cast<double>(std::min(count, memory));
}

// A send, or what it was waited for: none of its kind where it happens several times in a step.
struct end_of_link {
  const step_span* span = nullptr;
  const std::string* task = nullptr;
  bool several = false;
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
      auto& known = (is_send ? sends : waits)[subject.key];
      known.several = known.span != nullptr;
      known.span = &span;
      known.task = &task.task;
    }
  std::lock_guard guard{mutex_};
  for (const auto& [key, wait] : waits) {
    auto send = sends.find(key);
    if (send == sends.end() || send->second.several || wait.several ||
        *send->second.task == *wait.task)
      continue;
    std::pair between{*send->second.task, *wait.task};
    if (links_.size() >= max_links && !links_.contains(between))
      continue;
    auto& link = links_[between];
    link.from = between.first;
    link.to = between.second;
    auto took =
        static_cast<double>(std::max<int64_t>(0, wait.span->end_ns - send->second.span->begin_ns));
    if (wait.span->bytes <= small_bytes)
      blend(link.latency_ns, link.small, took);
    else if (wait.span->bytes >= large_bytes)
      blend(link.ns_per_byte, link.large,
            std::max(0.0, took - link.latency_ns) / static_cast<double>(wait.span->bytes));
  }
}

std::vector<link_time> link_times::all() const {
  std::lock_guard guard{mutex_};
  std::vector<link_time> known;
  for (const auto& [between, link] : links_)
    if (link.small > 0 || link.large > 0)
      known.push_back(link);
  return known;
}

bool link_times::empty() const {
  std::lock_guard guard{mutex_};
  return links_.empty();
}

} // namespace troupe
