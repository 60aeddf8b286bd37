// Which of a library's algorithms is the fastest for a question: tried once, then remembered.
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

/// One way to compute something.
struct algorithm {
  int number = 0;            ///< the library's
  int math = 0;              ///< with which precision and units, also the library's number
  size_t workspace = 0;      ///< bytes
  bool deterministic = true; ///< gives the same bits each time
  int form = 0;              ///< in which of the caller's ways it is launched

  auto operator<=>(const algorithm&) const = default;
};

/// How algorithms are tried.
struct tuning {
  int runs = 3;     ///< of each that are timed; before the first and the second is one that is not
  int hopeless = 2; ///< how many times slower than another is run once
  int64_t max_nanoseconds = 500'000'000; ///< no more is tried when the runs have taken as long
  /// Of those that are no slower than the fastest by this share, the library's advice decides:
  /// what is chosen should not change with the noise of a measurement.
  double margin = 0.05;
};

/// Runs an algorithm and returns what each timed run took, in nanoseconds. resource_exhausted means
/// that there was no memory for it, any other error but `unavailable` and `deadline_exceeded` that
/// it does not work; with these two no more is tried.
using trial = std::function<result<std::vector<int64_t>>(const algorithm& which, int runs)>;

/// What was tried of some algorithms.
struct tuned {
  /// The fastest first; then those that were not tried, as they were advised; then those that
  /// failed. The very same algorithms that were advised.
  std::vector<algorithm> order;
  size_t max_workspace = 0; ///< that a trial had
  bool done = false;        ///< at least one was timed, and nothing stopped it
};

/// Tries algorithms, the best advised first.
tuned try_algorithms(std::vector<algorithm> advised, const tuning& how, const trial& run);

/// What was tried for each question, for all devices and sessions of a process. May be used by any
/// thread. Whoever asks first tries; who asks meanwhile does not wait, and gets the advice.
template <class Question>
class autotuner {
public:
  static constexpr size_t max_questions = 4096; ///< all are forgotten when there are more
  static constexpr int max_attempts = 3;        ///< then the advice is taken for good

  struct answer {
    std::vector<algorithm> order; ///< to be used in this order
    bool final = false;           ///< will not change any more
    size_t max_workspace = 0;     ///< that the caller's own trials had
  };

  /// The order of `advised` for a question. Tries nothing where `run` is null: where the caller's
  /// launches are being noted down, for one. What is known but not advised any more is left out.
  answer ask(const Question& of, const std::vector<algorithm>& advised, const trial& run,
             const tuning& how = {}) {
    if (advised.size() < 2)
      return {advised, true, 0};
    {
      std::lock_guard guard{mutex_};
      auto known = found_.find(of);
      if (known != found_.end() && !known->second.order.empty())
        return {of_these(known->second.order, advised), true, 0};
      if (known != found_.end() && known->second.attempts >= max_attempts)
        return {advised, true, 0};
      if (!run || (known != found_.end() && known->second.being_tried))
        return {advised, false, 0};
      make_room();
      found_[of].being_tried = true;
    }
    auto outcome = try_algorithms(advised, how, run);
    std::lock_guard guard{mutex_};
    auto& into = found_[of];
    into.being_tried = false;
    ++into.attempts;
    if (outcome.done)
      into.order = outcome.order;
    return {outcome.done ? std::move(outcome.order) : advised,
            outcome.done || into.attempts >= max_attempts, outcome.max_workspace};
  }

  /// Whether nobody who asks now would try anything, nor later.
  bool knows(const Question& of) {
    std::lock_guard guard{mutex_};
    auto known = found_.find(of);
    return known != found_.end() && known->second.final();
  }

private:
  struct knowledge {
    std::vector<algorithm> order; // none until it has been tried
    int attempts = 0;
    bool being_tried = false;

    bool final() const { return !order.empty() || attempts >= max_attempts; }
  };

  // Devices need not have memory for the same algorithms.
  static std::vector<algorithm> of_these(const std::vector<algorithm>& order,
                                         const std::vector<algorithm>& advised) {
    std::vector<algorithm> made;
    auto add = [&](const std::vector<algorithm>& from, const std::vector<algorithm>& if_in) {
      for (const auto& one : from)
        if (std::ranges::find(if_in, one) != if_in.end() &&
            std::ranges::find(made, one) == made.end())
          made.push_back(one);
    };
    add(order, advised);
    add(advised, advised);
    return made;
  }

  void make_room() {
    if (found_.size() >= max_questions)
      std::erase_if(found_, [](const auto& one) { return !one.second.being_tried; });
  }

  std::mutex mutex_;
  std::map<Question, knowledge> found_;
};

} // namespace troupe::gpu
