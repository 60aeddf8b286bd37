#include "troupe/ops/index/shared/tensor_scatter.cuda.hpp"

namespace troupe::ops::tensor_scatter_min_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(tensor_scatter_min){
    .op = "TensorScatterMin",
    .device = device_kind::gpu,
    .run = gpu::tensor_scatter_kernels<scatter_min>(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_min_gpu
