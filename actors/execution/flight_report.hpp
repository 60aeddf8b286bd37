// What a step waited for and did last, for people who wonder why it did not end.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <string>

namespace troupe {

/// Deadlines and cancellations leave open what was in the way; other errors say it themselves.
bool wants_flight_report(const status& why) noexcept;

/// Lines for the end of an error's text, each begun by a newline and two spaces: what the step
/// waits for on this task, turns of its loops included, for whom and since when, which of its
/// regions run, and its last events. Not longer than 4 KiB. The step must not have ended.
std::string flight_report(task_instance& of, uint64_t step);

/// The same error with the first line of its text alone: what others need to know of it.
status without_reports(const status& why);

/// Appends the reports that another task's answer brings to the first cause; not more than 16 KiB
/// in all.
void add_reports(status& first_cause, const status& answer);

/// "350 us", "12.4 ms", "3.1 s".
std::string readable_time(int64_t ns);

} // namespace troupe
