#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::assign_sub_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(assign_sub){
    .op = "AssignSub",
    .device = device_kind::gpu,
    .run = gpu::update_kernels<subtracting>(gpu::variable_types),
    .prepare = keep_locking,
};

} // namespace troupe::ops::assign_sub_gpu
