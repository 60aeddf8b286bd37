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

/// Lives on the thread's stack. Runs brief regions, and one message or so of each actor: send it
/// nothing by this unit that takes long to handle. Other regions run elsewhere.
class inline_unit final : public caf::execution_unit {
public:
  explicit inline_unit(caf::actor_system& system) : caf::execution_unit(&system) {}
  ~inline_unit() { run(); }

  void exec_later(caf::resumable* ready) override {
    auto* region = dynamic_cast<region_actor*>(ready);
    if (!region || region->brief())
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
      if (after == caf::resumable::resume_later)
        system().scheduler().enqueue(next);
      else if (after != caf::resumable::shutdown_execution_unit)
        next->intrusive_ptr_release_impl(); // becoming ready had taken a reference
    }
    ready_.clear();
  }

private:
  std::vector<std::pair<caf::resumable*, region_actor*>> ready_;
};

} // namespace troupe
