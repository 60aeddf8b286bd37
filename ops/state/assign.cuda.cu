#include "troupe/ops/state/shared/assignment.hpp"
#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::assign_gpu {
namespace {

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> assignments(type_list<Ts...>) {
  return {{dtype_of<Ts>, assign_input}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(assign){
    .op = "Assign",
    .device = device_kind::gpu,
    .run = assignments(gpu::variable_types),
    .prepare = keep_validation,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(assign_variable_op){
    .op = "AssignVariableOp",
    .device = device_kind::gpu,
    .run = assignments(gpu::variable_types),
    .key = "dtype",
    .prepare = keep_validation,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(assign_add){
    .op = "AssignAdd",
    .device = device_kind::gpu,
    .run = gpu::update_kernels<adding>(gpu::variable_types),
    .prepare = keep_locking,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(assign_sub){
    .op = "AssignSub",
    .device = device_kind::gpu,
    .run = gpu::update_kernels<subtracting>(gpu::variable_types),
    .prepare = keep_locking,
};

} // namespace troupe::ops::assign_gpu
