// The `troupe` command, which is part of the library because it uses internal interfaces.
#pragma once
#include "troupe/runtime/export.hpp"

namespace troupe::cli {

/// Returns the exit code: 0 success, 1 failure, 2 wrong usage, or some tasks of a cluster could not
/// be queried (some_missing, missing_tasks.hpp).
TROUPE_API int run_command_line(int argc, char** argv);

} // namespace troupe::cli
