// Lets the thread that delivers a message run the work that the message makes ready, if the work is
// brief: waking another thread would take longer.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/execution/region.hpp"

#include <caf/actor_system.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace troupe {

/// Lives on the thread's stack. Runs a few messages of actors, and brief regions; other regions run
/// elsewhere. Use it only for messages that are handled quickly.
class inline_unit final : public caf::execution_unit {
public:
  enum class regions { brief, none };
  explicit inline_unit(caf::actor_system& system, regions run = regions::brief)
      : caf::execution_unit(&system), regions_(run), outer_(std::exchange(current_, this)) {}
  inline_unit(const inline_unit&) = delete;
  inline_unit& operator=(const inline_unit&) = delete;
  ~inline_unit() {
    run();
    current_ = outer_;
  }

  /// Returns the innermost unit of this thread, if it belongs to that system. Returns null while
  /// the unit runs a region, for which new work would have to wait, unless the region's step is
  /// about to end.
  static inline_unit* current(const caf::actor_system& system) {
    return current_ && (!current_->running_ || current_->running_ == ending_) &&
                   &current_->system() == &system
               ? current_
               : nullptr;
  }
  /// While an object exists, this thread ends that step.
  class ending_step {
  public:
    explicit ending_step(const task_instance& step) : outer_(std::exchange(ending_, &step)) {}
    ending_step(const ending_step&) = delete;
    ending_step& operator=(const ending_step&) = delete;
    ~ending_step() { ending_ = outer_; }

  private:
    const task_instance* const outer_;
  };

  void exec_later(caf::resumable* ready) override {
    auto* region = dynamic_cast<region_actor*>(ready);
    if (!region || (regions_ == regions::brief && region->brief()))
      ready_.emplace_back(ready, region);
    else
      region->run_elsewhere();
  }

  /// Runs that region, however long it takes, and then what it has made ready.
  void run(region_actor* region) {
    resume(region, region);
    run();
  }
  /// Runs what is ready, in the order in which it became so.
  void run() {
    // A loop whose waits are already satisfied makes one region ready by another, without end.
    const auto max_regions = 4 * ready_.size() + 64;
    size_t region_count = 0;
    while (next_ < ready_.size()) {
      auto [next, region] = ready_[next_++];
      if (region && ++region_count > max_regions)
        region->run_elsewhere();
      else
        resume(next, region);
    }
    ready_.clear();
    next_ = 0;
  }

private:
  // `region` is `next` if `next` is a region, else null.
  void resume(caf::resumable* next, region_actor* region) {
    auto measures_time = region && !region->measures_itself();
    auto begin = std::chrono::steady_clock::now();
    running_ = region ? &region->step() : nullptr;
    auto outcome = next->resume(this, 1);
    running_ = nullptr;
    if (measures_time)
      region->took(std::chrono::steady_clock::now() - begin);
    if (outcome == caf::resumable::resume_later && repeats_left_-- > 0)
      ready_.emplace_back(next, region); // an actor with further messages
    else if (outcome == caf::resumable::resume_later)
      system().scheduler().enqueue(next);
    else if (outcome != caf::resumable::shutdown_execution_unit)
      next->intrusive_ptr_release_impl(); // a ready region holds a reference
  }

  static inline thread_local inline_unit* current_ = nullptr;
  static inline thread_local const task_instance* ending_ = nullptr;
  const regions regions_;
  inline_unit* const outer_;
  const task_instance* running_ = nullptr; // the step of the region that it runs
  int repeats_left_ = 8; // the number of actors' further messages that still run here
  std::vector<std::pair<caf::resumable*, region_actor*>> ready_;
  size_t next_ = 0;
};

} // namespace troupe
