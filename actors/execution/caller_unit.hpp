// Lets a thread that waits for a step run the step's regions itself.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/execution/ready_work.hpp"
#include "troupe/runtime/device/stop_signal.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <array>

namespace troupe {

/// Lives on the stack of the waiting thread. Keeps the regions that become ready, and passes on
/// those that do not fit.
class caller_unit final : public caf::execution_unit {
public:
  explicit caller_unit(caf::actor_system& system) : caf::execution_unit(&system) {}

  void exec_later(caf::resumable* ready) override {
    if (size_ < ready_.size())
      ready_[size_++] = ready;
    else
      schedule_elsewhere(system(), ready);
  }

  /// Runs regions until none is ready here. Light regions run first, because they may make others
  /// ready, as the counter of a loop does for its next iteration. Of several heavy regions, all but
  /// one are passed on. Checks the step's deadline at intervals: no other thread does so meanwhile.
  void drain(stop_signal& stop) {
    for (unsigned regions = 1; size_ > 0; ++regions) {
      if (regions % regions_per_check == 0)
        stop.is_due(); // sets the signal
      auto* next = take();
      switch (next->resume(this, max_messages)) {
        case caf::resumable::resume_later: exec_later(next); break;
        case caf::resumable::done:
        case caf::resumable::awaiting_message:
          next->intrusive_ptr_release_impl(); // a ready region holds a reference
          break;
        case caf::resumable::shutdown_execution_unit: break;
      }
    }
  }

private:
  static bool is_light(caf::resumable* ready) {
    auto* work = ready_work::from(ready);
    return work && work->is_light();
  }

  caf::resumable* take() {
    if (size_ == 1) // the usual case
      return ready_[--size_];
    auto end = ready_.begin() + size_;
    auto heavy = std::partition(ready_.begin(), end, is_light);
    if (heavy != end) {
      std::for_each(heavy + 1, end, [this](auto* region) { schedule_elsewhere(system(), region); });
      end = heavy + 1;
    }
    size_ = static_cast<size_t>(end - ready_.begin()) - 1;
    if (heavy != ready_.begin())
      std::iter_swap(heavy - 1, end - 1); // a light region runs first
    return ready_[size_];
  }

  static constexpr size_t max_messages = 30;
  static constexpr unsigned regions_per_check = 32;
  std::array<caf::resumable*, 64> ready_;
  size_t size_ = 0;
};

} // namespace troupe
