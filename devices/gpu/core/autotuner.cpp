#include "troupe/devices/gpu/core/autotuner.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::gpu {
namespace {

struct timed {
  algorithm tried;
  int64_t median;
};

int64_t median_of(std::vector<int64_t> times) {
  auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Sorts by time, but the first algorithm within the margin of the fastest comes first.
void sort_by_time(std::vector<timed>& trials, double margin) {
  if (trials.empty())
    return;
  auto least = std::ranges::min_element(trials, {}, &timed::median)->median;
  auto limit = static_cast<double>(least) * (1 + margin);
  auto chosen = std::ranges::find_if(trials, [&](const timed& trial_result) {
    return static_cast<double>(trial_result.median) <= limit;
  });
  std::rotate(trials.begin(), chosen, chosen + 1);
  std::ranges::stable_sort(trials.begin() + 1, trials.end(), {}, &timed::median);
}

} // namespace

tuned try_algorithms(std::vector<algorithm> advised, const tuning& options, const trial& run) {
  tuned outcome;
  std::vector<timed> worked;
  std::vector<algorithm> untried, failed;
  int64_t spent = 0, best = INT64_MAX;
  auto stopped = false;
  // Also counts the untimed run before the timed runs.
  auto timed_runs = [&](const algorithm& candidate, int runs) {
    auto times = run(candidate, runs);
    if (times && !times->empty())
      spent = std::accumulate(times->begin(), times->end(), spent + times->front());
    return times;
  };
  for (auto& candidate : advised) {
    if (stopped || spent > options.max_nanoseconds) {
      untried.push_back(candidate);
      continue;
    }
    auto times = timed_runs(candidate, 1);
    // A candidate that is much slower gets no more runs.
    if (options.runs > 1 && times && !times->empty() &&
        median_of(*times) / options.hopeless < best) {
      if (auto more_times = timed_runs(candidate, options.runs - 1))
        times->insert(times->end(), more_times->begin(), more_times->end());
      else
        times = more_times.status();
    }
    if (times && !times->empty()) {
      outcome.max_workspace = std::max(outcome.max_workspace, candidate.workspace);
      worked.push_back({candidate, median_of(*std::move(times))});
      best = std::min(best, worked.back().median);
      continue;
    }
    auto error = times ? error_kind::internal : times.status().kind();
    stopped = error == error_kind::unavailable || error == error_kind::deadline_exceeded;
    (stopped || error == error_kind::resource_exhausted ? untried : failed).push_back(candidate);
  }
  outcome.done = !worked.empty() && !stopped;
  sort_by_time(worked, options.margin);
  for (auto& measured : worked)
    outcome.order.push_back(measured.tried);
  outcome.order.insert(outcome.order.end(), untried.begin(), untried.end());
  outcome.order.insert(outcome.order.end(), failed.begin(), failed.end());
  return outcome;
}

} // namespace troupe::gpu
