#include "troupe/ops/index/shared/tensor_scatter.cuda.hpp"

namespace troupe::ops::tensor_scatter_gpu {
namespace {

status run_tensor_scatter_update(kernel_context& at) {
  const auto& updates = at.input(2);
  return gpu::scatter_blocks(at, at.input(1), updates, at.input(0).dims(),
                             [&](const gpu::sorted_updates& sorted, int64_t length) -> status {
                               TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
                               return gpu::put_parts(at, sorted, length, *out, updates);
                             });
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(tensor_scatter_add){
    .op = "TensorScatterAdd",
    .device = device_kind::gpu,
    .run = gpu::tensor_scatter_kernels<scatter_add>(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(tensor_scatter_sub){
    .op = "TensorScatterSub",
    .device = device_kind::gpu,
    .run = gpu::tensor_scatter_kernels<scatter_sub>(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(tensor_scatter_max){
    .op = "TensorScatterMax",
    .device = device_kind::gpu,
    .run = gpu::tensor_scatter_kernels<scatter_max>(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(tensor_scatter_min){
    .op = "TensorScatterMin",
    .device = device_kind::gpu,
    .run = gpu::tensor_scatter_kernels<scatter_min>(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(tensor_scatter_update){
    .op = "TensorScatterUpdate",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_tensor_scatter_update}},
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_gpu
