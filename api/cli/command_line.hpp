// The `troupe` command, which is part of the library because it uses internal interfaces.
#pragma once
#include "troupe/runtime/export.hpp"

namespace troupe::cli {

/// Returns the exit code: 0 success, 1 failure, 2 wrong usage.
TROUPE_API int run_command_line(int argc, char** argv);

} // namespace troupe::cli
