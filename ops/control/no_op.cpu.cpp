#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::no_op_cpu {

extern constexpr kernel_def no_op_cpu{
    .op = "NoOp",
    .device = device_kind::cpu,
    .run = {{dtype::none, [](kernel_context&) { return status{}; }}},
};

} // namespace troupe::ops::no_op_cpu
