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

} // namespace troupe::ops::assign_gpu
