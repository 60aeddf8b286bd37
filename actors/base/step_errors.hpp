// Errors of steps that end before they have run.
#pragma once
#include "troupe/runtime/types/status.hpp"

namespace troupe {

/// The error of a run whose stop token was requested to stop.
inline status stopped_by_caller() {
  return failure(error_kind::cancelled, "the caller stopped the run");
}

/// The error of a run whose deadline had passed before it began.
inline status deadline_passed_before_start() {
  return failure(error_kind::deadline_exceeded,
                 "the deadline had passed before the step began: nothing of it has run");
}

} // namespace troupe
