#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::assign_add_cpu {

extern constexpr kernel_def assign_add_cpu{
    .op = "AssignAdd",
    .device = device_kind::cpu,
    .run = update_kernels<adding>(types::numbers),
    .prepare = keep_locking,
};

} // namespace troupe::ops::assign_add_cpu
