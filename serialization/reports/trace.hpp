// Steps as a timeline: the trace-event format, which chrome://tracing and ui.perfetto.dev display.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/types/status.hpp"

#include <span>
#include <string>

namespace troupe {

/// Returns JSON: one process for each task, one thread for each thread. Regions enclose the nodes
/// that they ran. Steps and waits have separate tracks, because they overlap. An arrow leads from
/// each send to the region that it made runnable. Times count from the begin of the first step.
TROUPE_API std::string trace_json(std::span<const step_statistics> steps);

/// Writes the same to a file. Errors name the file.
TROUPE_API status write_trace(const std::string& path, std::span<const step_statistics> steps);

} // namespace troupe
