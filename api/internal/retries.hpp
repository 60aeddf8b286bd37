// When failed work of a training is tried again, and how long it waits. Not for users.
#pragma once
#include "troupe/api/error.hpp"

#include <chrono>

namespace troupe {

/// Whether what failed may succeed when it is tried again.
bool may_pass(const error& why);
/// Whether it may with replicas, which others may make anew: `cancelled` is what waits in a
/// container that is reset. Where they are elastic, a task that a step needs may have left.
bool may_pass_for_replicas(const error& why, bool elastic = false);
/// Before the next attempt, after so many in a row that failed: doubled for each, up to 5 s.
std::chrono::duration<double> retry_pause(double first_seconds, int attempts);
/// Seconds that a user has given, for a time limit: never 0, which would be none.
std::chrono::milliseconds in_milliseconds(double seconds);
/// The same, to be added to a time.
std::chrono::steady_clock::duration in_ticks(double seconds);

} // namespace troupe
