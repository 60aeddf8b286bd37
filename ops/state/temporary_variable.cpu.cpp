#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::temporary_variable_cpu {

extern constexpr kernel_def temporary_variable_cpu{
    .op = "TemporaryVariable",
    .run = {{dtype::none, [](kernel_context&) { return status{}; }}},
};

} // namespace troupe::ops::temporary_variable_cpu
