#include "troupe/ops/state/shared/assignment.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::assign_cpu {

extern constexpr kernel_def assign_cpu{
    .op = "Assign",
    .run = {{dtype::none, assign_input}},
    .prepare = keep_validation,
};

extern constexpr kernel_def assign_variable_op_cpu{
    .op = "AssignVariableOp",
    .run = {{dtype::none, assign_input}},
    .prepare = keep_validation,
};

extern constexpr kernel_def assign_add_cpu{
    .op = "AssignAdd",
    .device = device_kind::cpu,
    .run = update_kernels<adding>(types::numbers),
    .prepare = keep_locking,
};

extern constexpr kernel_def assign_sub_cpu{
    .op = "AssignSub",
    .device = device_kind::cpu,
    .run = update_kernels<subtracting>(types::numbers),
    .prepare = keep_locking,
};

} // namespace troupe::ops::assign_cpu
