// Low-priority threads for steps that prepare input for others, such as decoding the next batch.
#pragma once
#include "troupe/actors/execution/region_threads.hpp"

#include <caf/fwd.hpp>

#include <cstddef>
#include <memory>

namespace troupe {

/// Threads that run heavy regions in the order in which they became ready, at a lower priority than
/// the threads of other steps, if the system supports that (Linux). They start on demand. Brief
/// regions stay on the thread that makes them ready, because passing them on would take longer. Any
/// thread may call.
class low_priority_threads final : public region_threads {
public:
  /// The system must live until all queued regions have run.
  low_priority_threads(caf::actor_system& system, size_t max_threads);
  /// Runs the queued regions, and waits for that unless called on one of the threads.
  ~low_priority_threads() override;

  bool takes(bool heavy) const noexcept override { return heavy; }
  /// If there is no thread and the system cannot create one, the threads of other steps run it.
  void run_later(ready_work* ready) override;

private:
  class unit;
  std::shared_ptr<unit> unit_; // shared with the threads
};

} // namespace troupe
