// Lets a thread that has brought a message run at once what the message makes ready, where that is
// brief: to wake another thread would take longer.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/execution/region.hpp"

#include <caf/actor_system.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace troupe {

/// Lives on the thread's stack. Runs a few messages of actors, and regions that are brief: send it
/// nothing by this unit that takes long to handle. Other regions run elsewhere.
class inline_unit final : public caf::execution_unit {
public:
  enum class regions { brief, none };
  explicit inline_unit(caf::actor_system& system, regions run = regions::brief)
      : caf::execution_unit(&system), regions_(run), outer_(std::exchange(here_, this)) {}
  inline_unit(const inline_unit&) = delete;
  inline_unit& operator=(const inline_unit&) = delete;
  ~inline_unit() {
    run();
    here_ = outer_;
  }

  /// The innermost one of this thread, if it is for that system; null while it runs a region, which
  /// all that it is given then would wait for, unless the region's step is about to end.
  static inline_unit* here(const caf::actor_system& system) {
    return here_ && (!here_->runs_ || here_->runs_ == ends_) && &here_->system() == &system
               ? here_
               : nullptr;
  }
  /// While one exists, this thread ends that step.
  class end_of_step {
  public:
    explicit end_of_step(const task_instance& step) : outer_(std::exchange(ends_, &step)) {}
    end_of_step(const end_of_step&) = delete;
    end_of_step& operator=(const end_of_step&) = delete;
    ~end_of_step() { ends_ = outer_; }

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

  /// Runs that region, whatever it takes, and then what it has made ready.
  void run(region_actor* region) {
    resume(region, region);
    run();
  }
  /// Runs what is ready, in the order in which it became so.
  void run() {
    // A loop that waits for what is there already makes one region ready by another, for ever.
    const auto most_regions = 4 * ready_.size() + 64;
    size_t regions = 0;
    while (next_ < ready_.size()) {
      auto [next, region] = ready_[next_++];
      if (region && ++regions > most_regions)
        region->run_elsewhere();
      else
        resume(next, region);
    }
    ready_.clear();
    next_ = 0;
  }

private:
  // `region` is `next` if that is one, else null.
  void resume(caf::resumable* next, region_actor* region) {
    auto measures = region && !region->measures_itself();
    auto begin = std::chrono::steady_clock::now();
    runs_ = region ? &region->step() : nullptr;
    auto after = next->resume(this, 1);
    runs_ = nullptr;
    if (measures)
      region->took(std::chrono::steady_clock::now() - begin);
    if (after == caf::resumable::resume_later && more_-- > 0)
      ready_.emplace_back(next, region); // another thread has sent it something meanwhile
    else if (after == caf::resumable::resume_later)
      system().scheduler().enqueue(next);
    else if (after != caf::resumable::shutdown_execution_unit)
      next->intrusive_ptr_release_impl(); // becoming ready had taken a reference
  }

  static inline thread_local inline_unit* here_ = nullptr;
  static inline thread_local const task_instance* ends_ = nullptr;
  const regions regions_;
  inline_unit* const outer_;
  const task_instance* runs_ = nullptr; // the step of the region that it runs now
  int more_ = 8;                        // messages of actors that have had one
  std::vector<std::pair<caf::resumable*, region_actor*>> ready_;
  size_t next_ = 0;
};

} // namespace troupe
