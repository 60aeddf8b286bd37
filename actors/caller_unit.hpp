// Lets a thread that waits for a step run the step's regions itself.
#pragma once
#include "troupe/runtime/stop.hpp"

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <array>

namespace troupe {

/// Lives on the stack of the thread that drives. Keeps what becomes ready for itself; hands on what
/// it cannot hold.
class caller_unit final : public caf::execution_unit {
public:
  explicit caller_unit(caf::actor_system& system) : caf::execution_unit(&system) {}

  void exec_later(caf::resumable* ready) override {
    if (size_ < ready_.size())
      ready_[size_++] = ready;
    else
      system().scheduler().enqueue(ready);
  }

  /// Runs until nothing is ready here. Other threads take what more than one region makes ready at
  /// once. Looks at the step's deadline now and then: nobody else does while this thread works.
  void drain(stop_signal& stop) {
    for (unsigned regions = 1; size_ > 0; ++regions) {
      if (regions % regions_per_look == 0)
        stop.due(); // raises it
      auto* next = ready_[--size_];
      while (size_ > 0) // parallel work: worth waking somebody
        system().scheduler().enqueue(ready_[--size_]);
      switch (next->resume(this, max_messages)) {
        case caf::resumable::resume_later: exec_later(next); break;
        case caf::resumable::done:
        case caf::resumable::awaiting_message:
          next->intrusive_ptr_release_impl(); // becoming ready had taken a reference
          break;
        case caf::resumable::shutdown_execution_unit: break;
      }
    }
  }

private:
  static constexpr size_t max_messages = 30;
  static constexpr unsigned regions_per_look = 32;
  std::array<caf::resumable*, 16> ready_{};
  size_t size_ = 0;
};

} // namespace troupe
