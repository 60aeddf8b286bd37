// The retry policy of training runs. Internal.
#pragma once
#include "troupe/api/error.hpp"

#include <chrono>

namespace troupe {

/// Returns true if a retry may succeed after this error.
bool may_pass(const error& cause);
/// Returns true if a retry of a replica may succeed. In addition to may_pass(): `cancelled` is the
/// error of operations that wait in a container that is reset. If replicas are elastic, a task that
/// a step needs may have left.
bool may_pass_for_replicas(const error& cause, bool elastic = false);
/// Returns the pause before the next attempt, after `attempts` consecutive failures: doubled for
/// each, up to 5 s.
std::chrono::duration<double> retry_pause(double first_seconds, int attempts);
/// Converts a user's seconds to a time limit: never 0, which would mean no limit.
std::chrono::milliseconds in_milliseconds(double seconds);
/// Converts a user's seconds to a duration that can be added to a time.
std::chrono::steady_clock::duration in_ticks(double seconds);

} // namespace troupe
