// Lets a thread that has brought a message run at once what the message makes ready, where that is
// brief: to wake another thread would take longer.
#pragma once
#include "troupe/actors/caf_internals.hpp"
#include "troupe/actors/region.hpp"

#include <caf/actor_system.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace troupe {

/// Lives on the thread's stack. Runs a few messages of actors, and the regions that it is for: send
/// it nothing by this unit that takes long to handle. Other regions run elsewhere.
class inline_unit final : public caf::execution_unit {
public:
  enum class regions { brief, tiny, none };
  explicit inline_unit(caf::actor_system& system, regions run = regions::brief)
      : caf::execution_unit(&system), regions_(run), outer_(std::exchange(here_, this)) {}
  inline_unit(const inline_unit&) = delete;
  inline_unit& operator=(const inline_unit&) = delete;
  ~inline_unit() {
    run();
    here_ = outer_;
  }

  /// The innermost one of this thread that is for that system, or null.
  static inline_unit* here(const caf::actor_system& system) {
    return here_ && &here_->system() == &system ? here_ : nullptr;
  }

  void exec_later(caf::resumable* ready) override {
    auto* region = dynamic_cast<region_actor*>(ready);
    if (!region || runs(*region))
      ready_.emplace_back(ready, region);
    else
      region->run_elsewhere();
  }

  void run() {
    // In the order in which it became ready.
    for (size_t i = 0; i < ready_.size(); ++i) {
      auto [next, region] = ready_[i];
      auto measures = region && !region->measures_itself();
      auto begin = std::chrono::steady_clock::now();
      auto after = next->resume(this, 1);
      if (measures)
        region->took(std::chrono::steady_clock::now() - begin);
      if (after == caf::resumable::resume_later && more_-- > 0)
        ready_.emplace_back(next, region); // another thread has sent it something meanwhile
      else if (after == caf::resumable::resume_later)
        system().scheduler().enqueue(next);
      else if (after != caf::resumable::shutdown_execution_unit)
        next->intrusive_ptr_release_impl(); // becoming ready had taken a reference
    }
    ready_.clear();
  }

private:
  bool runs(const region_actor& region) const {
    return regions_ == regions::brief ? region.brief() : regions_ == regions::tiny && region.tiny();
  }

  static inline thread_local inline_unit* here_ = nullptr;
  const regions regions_;
  inline_unit* const outer_;
  int more_ = 8; // messages of actors that have had one
  std::vector<std::pair<caf::resumable*, region_actor*>> ready_;
};

} // namespace troupe
