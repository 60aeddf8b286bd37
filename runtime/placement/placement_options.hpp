// How sessions choose devices for nodes, as their options say it.
#pragma once
#include <cstdint>

namespace troupe {

/// Which device a node gets among those that it may run on.
enum class placement_strategy : uint8_t {
  first_worker, ///< the first; a GPU of its task before its processor
  /// The one where it ends first, in a simulated run of the step that goes from its beginning to
  /// its end (white paper 3.2.1). What has or uses state stays where first_worker puts it: it must
  /// be in one place in all steps.
  greedy,
};

/// When what comes from another task is sent for (white paper 5.2).
enum class recv_schedule : uint8_t {
  eager, ///< as soon as it is there
  /// As late as its first reader needs it by the estimated times, where that is much later: less
  /// memory is taken at once where it is read.
  late,
};

struct placement_options {
  placement_strategy strategy = placement_strategy::first_worker;
  /// What asks for a device that is not there, or that cannot run it, runs on the nearest that is,
  /// with a warning: first on the same task, then of the same kind and job, then anywhere.
  bool soft = false;
  recv_schedule receives = recv_schedule::eager;
};

} // namespace troupe
