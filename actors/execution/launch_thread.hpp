// A thread of a device's own, which launches all that the device runs.
#pragma once
#include "troupe/actors/execution/region_threads.hpp"

#include <caf/fwd.hpp>

#include <memory>

namespace troupe {

/// Runs regions one after the other, in the order in which they came, so that threads that bring
/// work go on to other work. Costs a wake-up where there was nothing to do. Any thread may call.
class launch_thread final : public region_threads {
public:
  /// The system must stay until all regions that were brought have run.
  explicit launch_thread(caf::actor_system& system);
  /// Runs what was brought; waits for that, except on the thread itself.
  ~launch_thread() override;

  bool takes(bool) const noexcept override { return true; }
  void run_later(caf::resumable* ready) override;

private:
  class unit;
  std::shared_ptr<unit> unit_; // the thread's, too
};

} // namespace troupe
