#include "troupe/devices/gpu/core/autotuner.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::gpu {
namespace {

struct timed {
  algorithm which;
  int64_t median;
};

int64_t median_of(std::vector<int64_t> times) {
  auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// The fastest first, but the first of those that are about as fast as the fastest before all.
void sort_by_time(std::vector<timed>& all, double margin) {
  if (all.empty())
    return;
  auto least = std::ranges::min_element(all, {}, &timed::median)->median;
  auto near = static_cast<double>(least) * (1 + margin);
  auto chosen = std::ranges::find_if(
      all, [&](const timed& one) { return static_cast<double>(one.median) <= near; });
  std::rotate(all.begin(), chosen, chosen + 1);
  std::ranges::stable_sort(all.begin() + 1, all.end(), {}, &timed::median);
}

} // namespace

tuned try_algorithms(std::vector<algorithm> advised, const tuning& how, const trial& run) {
  tuned made;
  std::vector<timed> worked;
  std::vector<algorithm> untried, failed;
  int64_t spent = 0, best = INT64_MAX;
  auto stopped = false;
  // With the run before them that is not timed.
  auto timed_runs = [&](const algorithm& which, int runs) {
    auto times = run(which, runs);
    if (times && !times->empty())
      spent = std::accumulate(times->begin(), times->end(), spent + times->front());
    return times;
  };
  for (auto& one : advised) {
    if (stopped || spent > how.max_nanoseconds) {
      untried.push_back(one);
      continue;
    }
    auto times = timed_runs(one, 1);
    // What is far behind is not worth more runs.
    if (how.runs > 1 && times && !times->empty() && median_of(*times) / how.hopeless < best) {
      if (auto more = timed_runs(one, how.runs - 1))
        times->insert(times->end(), more->begin(), more->end());
      else
        times = more.status();
    }
    if (times && !times->empty()) {
      made.max_workspace = std::max(made.max_workspace, one.workspace);
      worked.push_back({one, median_of(*std::move(times))});
      best = std::min(best, worked.back().median);
      continue;
    }
    auto why = times ? error_kind::internal : times.status().kind();
    stopped = why == error_kind::unavailable || why == error_kind::deadline_exceeded;
    (stopped || why == error_kind::resource_exhausted ? untried : failed).push_back(one);
  }
  made.done = !worked.empty() && !stopped;
  sort_by_time(worked, how.margin);
  for (auto& one : worked)
    made.order.push_back(one.which);
  made.order.insert(made.order.end(), untried.begin(), untried.end());
  made.order.insert(made.order.end(), failed.begin(), failed.end());
  return made;
}

} // namespace troupe::gpu
