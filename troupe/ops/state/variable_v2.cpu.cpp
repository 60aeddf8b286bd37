#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::variable_v2_cpu {

// The program resolves references when it is compiled, and the runtime reads the variable.
extern constexpr kernel_def variable_v2_cpu{
    .op = "VariableV2",
    .device = device_kind::cpu,
    .run = {{dtype::none, [](kernel_context&) { return status{}; }}},
};

} // namespace troupe::ops::variable_v2_cpu
