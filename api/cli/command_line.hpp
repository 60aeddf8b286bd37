// The `troupe` command, which is part of the library: it shows what programs need not see.
#pragma once
#include "troupe/runtime/export.hpp"

namespace troupe::cli {

/// Returns the exit code: 0 done, 1 failed, 2 wrong usage.
TROUPE_API int run_command_line(int argc, char** argv);

} // namespace troupe::cli
