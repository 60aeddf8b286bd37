// The state of one step that runs on several tasks, as its master sees it. A pure state machine
// without actors, clocks or threads: every call returns the next action.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace troupe {

/// A step begins on all tasks at the same time, and ends when each task has answered. If tasks hold
/// elements that go back on failure, a successful step ends only when these tasks have confirmed
/// that the elements are consumed. The first error is the outcome; the tasks that have not answered
/// by then are cancelled, and get some time to stop.
class distributed_step {
public:
  explicit distributed_step(size_t tasks) : silent_(tasks, true), missing_(tasks) {}

  /// The action that must follow an event.
  enum class next : uint8_t {
    wait,
    cancel_others, ///< cancel the tasks that are silent(), and give them some time
    settle,        ///< send the success to the tasks that are silent(); they confirm it
    end            ///< report outcome() to the caller
  };

  /// A task has answered. Its later answers are ignored.
  next answer(size_t task, status task_outcome) {
    if (over_ || !silent_[task])
      return next::wait;
    silent_[task] = false;
    --missing_;
    if (!task_outcome && error_.ok()) {
      error_ = std::move(task_outcome);
      return missing_ == 0 ? end() : next::cancel_others;
    }
    if (missing_ != 0)
      return next::wait;
    if (holders_.empty() || !error_.ok())
      return end();
    // From here on, each of these tasks may have consumed the elements.
    for (auto holder : holders_)
      silent_[holder] = true;
    missing_ = holders_.size();
    holders_.clear();
    settles_ = true;
    return next::settle;
  }

  /// A task whose part has succeeded holds elements until it learns how the step has ended.
  void hold(size_t task) { holders_.push_back(task); }
  bool holds(size_t task) const { return std::ranges::find(holders_, task) != holders_.end(); }
  /// Returns the holders to notify of a failure, each once. Also after the end, for late answers.
  std::vector<size_t> take_holders() {
    return over_ || !error_.ok() ? std::exchange(holders_, {}) : std::vector<size_t>{};
  }

  /// Fails a step whose deadline has passed or whose client has disconnected. Does nothing once all
  /// parts have succeeded and the holders are settling: they answer, or are lost.
  next fail(status reason) {
    if (over_ || settles_ || !error_.ok())
      return next::wait;
    error_ = std::move(reason);
    return missing_ == 0 ? end() : next::cancel_others;
  }

  /// Ends the step: the time of cancelled tasks is over, or the step is abandoned at once.
  next end_now() { return over_ ? next::wait : end(); }
  /// Whether holders are settling. Those that are silent() may have consumed their elements.
  bool settles() const noexcept { return settles_ && !over_; }
  /// Ends the step with an error if the holders did not answer in time: the elements may or may not
  /// be consumed.
  next end_unconfirmed(status reason) {
    if (over_)
      return next::wait;
    if (error_.ok())
      error_ = std::move(reason);
    return end();
  }

  bool over() const noexcept { return over_; }
  bool silent(size_t task) const { return silent_[task]; }
  size_t tasks() const noexcept { return silent_.size(); }
  /// The first error; the caller may add later errors to its text.
  const status& outcome() const noexcept { return error_; }
  status& outcome() noexcept { return error_; }

private:
  next end() {
    over_ = true;
    return next::end;
  }

  std::vector<bool> silent_;
  std::vector<size_t> holders_;
  size_t missing_;
  bool over_ = false, settles_ = false;
  status error_;
};

} // namespace troupe
