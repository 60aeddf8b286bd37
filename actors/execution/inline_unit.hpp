// Lets the thread that delivers a message run the work that the message makes ready, if the work is
// brief: waking another thread would take longer.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/ready_work.hpp"

#include <caf/actor_system.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace troupe {

/// Lives on the thread's stack. Runs a few messages of actors, and brief work, such as brief
/// regions; other work runs elsewhere. Use it only for messages that are handled quickly.
class inline_unit final : public caf::execution_unit {
public:
  enum class kinds {
    actors_and_brief_work,
    own_actors_and_brief_work, ///< the application's actors, which may wait, run elsewhere
    actors
  };
  explicit inline_unit(caf::actor_system& system, kinds runs = kinds::actors_and_brief_work)
      : caf::execution_unit(&system), runs_(runs), outer_(std::exchange(current_, this)) {}
  inline_unit(const inline_unit&) = delete;
  inline_unit& operator=(const inline_unit&) = delete;
  ~inline_unit() {
    run();
    current_ = outer_;
  }

  /// Returns the innermost unit of this thread, if it belongs to that system. Returns null while
  /// the unit runs work, for which new work would have to wait, unless the step of that is about to
  /// end.
  static inline_unit* current(const caf::actor_system& system) {
    return current_ && (!current_->running_ || current_->running_ == ending_) &&
                   &current_->system() == &system
               ? current_
               : nullptr;
  }
  /// While an object exists, this thread ends that step.
  class ending_step {
  public:
    explicit ending_step(const step_queue_state& step) : outer_(std::exchange(ending_, &step)) {}
    ending_step(const ending_step&) = delete;
    ending_step& operator=(const ending_step&) = delete;
    ~ending_step() { ending_ = outer_; }

  private:
    const void* const outer_;
  };

  void exec_later(caf::resumable* ready) override {
    auto* work = ready_work::from(ready);
    if (work ? runs_ != kinds::actors && work->is_brief()
             : runs_ != kinds::own_actors_and_brief_work || is_own_actor(*ready))
      ready_.emplace_back(ready, work);
    else
      schedule_elsewhere(system(), ready);
  }

  /// Runs that work, however long it takes, and then what it has made ready.
  void run(ready_work* work) {
    resume(work, work);
    run();
  }
  /// Runs what is ready, in the order in which it became so.
  void run() {
    // A loop whose waits are already satisfied makes one region ready by another, without end.
    const auto max_count = 4 * ready_.size() + 64;
    size_t count = 0;
    while (next_ < ready_.size()) {
      auto [next, work] = ready_[next_++];
      if (work && ++count > max_count)
        work->run_elsewhere();
      else
        resume(next, work);
    }
    ready_.clear();
    next_ = 0;
  }

private:
  // `work` is `next`, or null if `next` is an actor.
  void resume(caf::resumable* next, ready_work* work) {
    auto measures_time = work && !work->measures_itself();
    auto begin = std::chrono::steady_clock::now();
    running_ = work ? step_of(*work) : nullptr;
    auto outcome = next->resume(this, 1);
    running_ = nullptr;
    if (measures_time)
      work->took(std::chrono::steady_clock::now() - begin);
    if (outcome == caf::resumable::resume_later && repeats_left_-- > 0)
      ready_.emplace_back(next, work); // an actor with further messages
    else if (outcome == caf::resumable::resume_later)
      system().scheduler().enqueue(next);
    else if (outcome != caf::resumable::shutdown_execution_unit)
      next->intrusive_ptr_release_impl(); // ready work holds a reference
  }

  // Work that serves several steps stands for itself: no step is about to end with it.
  static const void* step_of(const ready_work& work) noexcept {
    const auto* step = work.step_queue();
    return step ? static_cast<const void*>(step) : &work;
  }

  static inline thread_local inline_unit* current_ = nullptr;
  static inline thread_local const void* ending_ = nullptr; // a step_queue_state
  const kinds runs_;
  inline_unit* const outer_;
  const void* running_ = nullptr; // step_of() the work that it runs
  int repeats_left_ = 8;          // the number of actors' further messages that still run here
  std::vector<std::pair<caf::resumable*, ready_work*>> ready_;
  size_t next_ = 0;
};

} // namespace troupe
