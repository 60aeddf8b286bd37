#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::assign_add_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(assign_add){
    .op = "AssignAdd",
    .device = device_kind::gpu,
    .run = gpu::update_kernels<adding>(gpu::variable_types),
    .prepare = keep_locking,
};

} // namespace troupe::ops::assign_add_gpu
