// Reports what a step waited for and did last, for errors of steps that did not end.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <string>

namespace troupe {

/// Returns whether an error is a passed deadline or a cancellation, which does not say what blocked
/// the step.
bool wants_flight_report(const status& why) noexcept;

/// Returns lines for the end of an error's text, each begun by a newline and two spaces: the waits
/// of the step on this task, those in iterations of its loops included, with their targets and
/// times; its running regions; its last events. At most 4 KiB. The step must not have ended.
std::string flight_report(task_instance& instance, uint64_t step);

/// Returns the error with only the first line of its text, for other tasks.
status without_reports(const status& why);

/// Appends the reports of another task's answer to the first error; at most 16 KiB in all.
void add_reports(status& first_cause, const status& answer);

/// Formats a duration: "350 us", "12.4 ms", "3.1 s".
std::string readable_time(int64_t ns);

} // namespace troupe
