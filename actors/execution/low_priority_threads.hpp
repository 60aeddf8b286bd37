// Threads for steps that prepare what others read: decoding the next batch, say.
#pragma once
#include "troupe/actors/execution/region_threads.hpp"

#include <caf/fwd.hpp>

#include <cstddef>
#include <memory>

namespace troupe {

/// Run heavy regions in the order in which they became ready, at a lower priority than the threads
/// of other steps, where the system can do that (Linux). They come with the first work, and only as
/// many as there is work at once. Brief regions stay with whoever makes them ready: to hand them on
/// would take longer.
class low_priority_threads final : public region_threads {
public:
  /// The system must stay until all regions that were brought have run.
  low_priority_threads(caf::actor_system& system, size_t most);
  /// Runs what was brought; waits for that, except on one of the threads.
  ~low_priority_threads() override;

  bool takes(bool heavy) const noexcept override { return heavy; } ///< or seen to take long
  /// Where there is no thread, and the system gives none, those of other steps run it.
  void run_later(caf::resumable* ready) override;

private:
  class unit;
  std::shared_ptr<unit> unit_; // the threads', too
};

} // namespace troupe
