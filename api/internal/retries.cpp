#include "troupe/api/internal/retries.hpp"
// Classifies errors of training runs, and computes pauses.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace troupe {

bool may_pass(const error& cause) {
  return cause.kind() == error_kind::unavailable || cause.kind() == error_kind::aborted ||
         cause.kind() == error_kind::deadline_exceeded;
}

bool may_pass_for_replicas(const error& cause, bool elastic) {
  return may_pass(cause) || cause.kind() == error_kind::cancelled ||
         cause.kind() == error_kind::failed_precondition ||
         (elastic && cause.kind() == error_kind::not_found);
}

std::chrono::duration<double> retry_pause(double first_seconds, int attempts) {
  constexpr double longest = 5;
  return std::chrono::duration<double>{
      std::min(first_seconds * std::pow(2.0, std::min(attempts, 30)), longest)};
}

std::chrono::milliseconds in_milliseconds(double seconds) {
  return std::chrono::milliseconds{static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9) * 1000) + 1};
}

std::chrono::steady_clock::duration in_ticks(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>{std::clamp(seconds, 0.0, 1e6)});
}

} // namespace troupe
