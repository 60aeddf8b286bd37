// What a master knows of one step that runs on several tasks. Knows no actors, no clocks and no
// threads: every call says what is to be done.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace troupe {

/// A step begins on all tasks at once, and is over when each has answered; where it was given what
/// goes back if it fails, when the tasks that keep this have said that it is spent. The first error
/// is its outcome; the tasks that have not answered then are to be cancelled, and have some time
/// left.
class distributed_step {
public:
  explicit distributed_step(size_t tasks) : silent_(tasks, true), missing_(tasks) {}

  /// What follows from an event.
  enum class next : uint8_t {
    wait,
    cancel_others, ///< those that are silent(), and give them some time
    settle,        ///< tell those that are silent() that all has ended well; they answer
    end            ///< tell whoever waits: outcome()
  };

  /// A task has answered; a second answer of it counts for nothing.
  next answer(size_t task, status how) {
    if (over_ || !silent_[task])
      return next::wait;
    silent_[task] = false;
    --missing_;
    if (!how && error_.ok()) {
      error_ = std::move(how);
      return missing_ == 0 ? end() : next::cancel_others;
    }
    if (missing_ != 0)
      return next::wait;
    if (holders_.empty() || !error_.ok())
      return end();
    // From here on each of them may have spent what it keeps.
    for (auto one : holders_)
      silent_[one] = true;
    missing_ = holders_.size();
    holders_.clear();
    settles_ = true;
    return next::settle;
  }

  /// A task whose part has ended well keeps what it took until it is told how the step has ended.
  void hold(size_t task) { holders_.push_back(task); }
  bool holds(size_t task) const { return std::ranges::find(holders_, task) != holders_.end(); }
  /// Whom to tell now that it has failed, each once. Also after the end: an answer may come late.
  std::vector<size_t> take_holders() {
    return over_ || !error_.ok() ? std::exchange(holders_, {}) : std::vector<size_t>{};
  }

  /// The step shall not run on: its time is over, or its client has gone. Counts for nothing where
  /// it has run to its end, and tasks are asked to spend what it took: they answer, or are lost.
  next fail(status why) {
    if (over_ || settles_ || !error_.ok())
      return next::wait;
    error_ = std::move(why);
    return missing_ == 0 ? end() : next::cancel_others;
  }

  /// Tasks that were cancelled have had their time; or all ends at once, for a reason.
  next give_up() { return over_ ? next::wait : end(); }
  /// Whether tasks are asked to spend what it took. Those that are silent() may have done so.
  bool settles() const noexcept { return settles_ && !over_; }
  /// They have had their time: nobody knows whether it is spent.
  next doubt(status why) {
    if (over_)
      return next::wait;
    if (error_.ok())
      error_ = std::move(why);
    return end();
  }

  bool over() const noexcept { return over_; }
  bool silent(size_t task) const { return silent_[task]; }
  size_t tasks() const noexcept { return silent_.size(); }
  /// The first cause; what others say after it may be added to its text.
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
