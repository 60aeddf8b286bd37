// What a master knows of one step that runs on several tasks. Knows no actors, no clocks and no
// threads: every call says what is to be done.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace troupe {

/// A step begins on all tasks at once, and is over when each has answered. The first error is its
/// outcome; the tasks that have not answered then are to be cancelled, and have some time left.
class distributed_step {
public:
  explicit distributed_step(size_t tasks) : silent_(tasks, true), missing_(tasks) {}

  /// What follows from an event.
  enum class next : uint8_t {
    wait,
    cancel_others, ///< those that are silent(), and give them some time
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
    return missing_ == 0 ? end() : next::wait;
  }

  /// A task whose part has ended well keeps what it took until it is told how the step has ended.
  void hold(size_t task) { holders_.push_back(task); }
  bool holds(size_t task) const { return std::ranges::find(holders_, task) != holders_.end(); }
  /// Whom to tell now, each once: nobody while the step may still end well. Also after the end: an
  /// answer may come late.
  std::vector<size_t> take_holders() {
    return over_ || !error_.ok() ? std::exchange(holders_, {}) : std::vector<size_t>{};
  }

  /// The step shall not run on: its time is over, or its client has gone.
  next fail(status why) {
    if (over_ || !error_.ok())
      return next::wait;
    error_ = std::move(why);
    return missing_ == 0 ? end() : next::cancel_others;
  }

  /// Tasks that were cancelled have had their time; or all ends at once, for a reason.
  next give_up() { return over_ ? next::wait : end(); }

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
  bool over_ = false;
  status error_;
};

} // namespace troupe
