#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::assign_sub_cpu {

extern constexpr kernel_def assign_sub_cpu{
    .op = "AssignSub",
    .device = device_kind::cpu,
    .run = update_kernels<subtracting>(types::numbers),
    .prepare = keep_locking,
};

} // namespace troupe::ops::assign_sub_cpu
