// The thread of a device that launches all kernels of the device.
#pragma once
#include "troupe/actors/execution/region_threads.hpp"

#include <caf/fwd.hpp>

#include <memory>

namespace troupe {

/// Runs regions one after another, in order of arrival, so that the threads that make them ready do
/// not wait for launches. An idle thread must be woken first. Any thread may call.
class launch_thread final : public region_threads {
public:
  /// The system must live until all queued regions have run.
  explicit launch_thread(caf::actor_system& system);
  /// Runs the queued regions, and waits for that unless called on the launch thread.
  ~launch_thread() override;

  bool takes(bool) const noexcept override { return true; }
  void run_later(ready_work* ready) override;

private:
  class unit;
  std::shared_ptr<unit> unit_; // shared with the thread
};

} // namespace troupe
