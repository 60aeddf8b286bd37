// Finds the fastest of a library's algorithms for a problem: timed once, then remembered.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace troupe::gpu {

/// One algorithm of a library.
struct algorithm {
  int number = 0;            ///< the library's
  int math = 0;              ///< precision and units, also the library's number
  size_t workspace = 0;      ///< bytes
  bool deterministic = true; ///< gives the same bits in each run
  int form = 0;              ///< the caller's way to launch the algorithm

  auto operator<=>(const algorithm&) const = default;
};

/// How algorithms are timed.
struct tuning {
  int runs = 3;     ///< timed runs of each; the first and the second have an untimed run before
  int hopeless = 2; ///< an algorithm that is slower by this factor is run once
  int64_t max_nanoseconds = 500'000'000; ///< no more algorithms are tried after this time
  /// Among algorithms that are slower than the fastest by at most this share, the library's advice
  /// decides, so that the choice does not change with the noise of measurements.
  double margin = 0.05;
};

/// Runs an algorithm and returns the nanoseconds of each timed run. resource_exhausted means that
/// there was no memory for it. `unavailable` and `deadline_exceeded` stop all trials. Any other
/// error means that the algorithm does not work.
using trial = std::function<result<std::vector<int64_t>>(const algorithm& tried, int runs)>;

/// The outcome of trying algorithms.
struct tuned {
  /// The advised algorithms: the fastest first, then the untried ones in the advised order, then
  /// the failed ones.
  std::vector<algorithm> order;
  size_t max_workspace = 0; ///< of all trials
  bool done = false;        ///< at least one was timed, and no error stopped the trials
};

/// Tries algorithms, the best advised first.
tuned try_algorithms(std::vector<algorithm> advised, const tuning& options, const trial& run);

/// Remembers the outcome for each problem, for all devices and sessions of a process. Thread-safe.
/// The first caller with a problem tries the algorithms; concurrent callers do not wait, and get
/// the advice.
template <class Problem>
class autotuner {
public:
  static constexpr size_t max_problems = 4096; ///< beyond, all are forgotten
  static constexpr int max_attempts = 3;       ///< afterwards the advice is final

  struct answer {
    std::vector<algorithm> order; ///< the algorithms to use, best first
    bool final = false;           ///< will not change
    size_t max_workspace = 0;     ///< of this call's own trials
  };

  /// Returns the order of `advised` for a problem. Tries nothing if `run` is null, for instance
  /// while the caller's launches are captured. Known algorithms that are no longer advised are left
  /// out.
  answer find(const Problem& problem, const std::vector<algorithm>& advised, const trial& run,
              const tuning& options = {}) {
    if (advised.size() < 2)
      return {advised, true, 0};
    {
      std::lock_guard guard{mutex_};
      auto known = known_.find(problem);
      if (known != known_.end() && !known->second.order.empty())
        return {merge_order(known->second.order, advised), true, 0};
      if (known != known_.end() && known->second.attempts >= max_attempts)
        return {advised, true, 0};
      if (!run || (known != known_.end() && known->second.being_tried))
        return {advised, false, 0};
      make_room();
      known_[problem].being_tried = true;
    }
    auto outcome = try_algorithms(advised, options, run);
    std::lock_guard guard{mutex_};
    auto& entry = known_[problem];
    entry.being_tried = false;
    ++entry.attempts;
    if (outcome.done)
      entry.order = outcome.order;
    return {outcome.done ? std::move(outcome.order) : advised,
            outcome.done || entry.attempts >= max_attempts, outcome.max_workspace};
  }

  /// Whether the order for a problem is final, so that no later call tries anything.
  bool is_final(const Problem& problem) {
    std::lock_guard guard{mutex_};
    auto known = known_.find(problem);
    return known != known_.end() && known->second.final();
  }

private:
  struct knowledge {
    std::vector<algorithm> order; // empty until the trials have succeeded
    int attempts = 0;
    bool being_tried = false;

    bool final() const { return !order.empty() || attempts >= max_attempts; }
  };

  // Keeps the advised algorithms only: devices may have memory for different algorithms.
  static std::vector<algorithm> merge_order(const std::vector<algorithm>& order,
                                            const std::vector<algorithm>& advised) {
    std::vector<algorithm> merged;
    auto add = [&](const std::vector<algorithm>& candidates,
                   const std::vector<algorithm>& allowed) {
      for (const auto& candidate : candidates)
        if (std::ranges::find(allowed, candidate) != allowed.end() &&
            std::ranges::find(merged, candidate) == merged.end())
          merged.push_back(candidate);
    };
    add(order, advised);
    add(advised, advised);
    return merged;
  }

  void make_room() {
    if (known_.size() >= max_problems)
      std::erase_if(known_, [](const auto& entry) { return !entry.second.being_tried; });
  }

  std::mutex mutex_;
  std::map<Problem, knowledge> known_;
};

} // namespace troupe::gpu
