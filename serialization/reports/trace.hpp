// Steps as a picture: the trace-event format, which chrome://tracing and ui.perfetto.dev show.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/types/status.hpp"

#include <span>
#include <string>

namespace troupe {

/// Returns JSON: one process for each task, one thread for each thread. Regions enclose the nodes
/// that they ran; steps and waits stand on tracks of their own, because they overlap; an arrow
/// leads from each send to the region that it let run. Times count from the first step's begin.
TROUPE_API std::string trace_json(std::span<const step_statistics> steps);

/// Writes the same to a file. Fails, naming it, when that cannot be written.
TROUPE_API status write_trace(const std::string& path, std::span<const step_statistics> steps);

} // namespace troupe
