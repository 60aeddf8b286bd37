// The regions of a step as text, with their nodes and the messages between them.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"

#include <string>

namespace troupe {

/// Returns lines that begin with "# ": for each task the numbers of regions and of messages, for
/// each region the number of messages after which it runs and its first nodes, and the messages by
/// kind. The messages of runs of loops and branches within the step count, but their regions are
/// not listed.
TROUPE_API std::string region_report(const step_statistics& step);

} // namespace troupe
