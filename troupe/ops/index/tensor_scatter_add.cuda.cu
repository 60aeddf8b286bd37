#include "troupe/ops/index/shared/tensor_scatter.cuda.hpp"

namespace troupe::ops::tensor_scatter_add_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(tensor_scatter_add){
    .op = "TensorScatterAdd",
    .device = device_kind::gpu,
    .run = gpu::tensor_scatter_kernels<scatter_add>(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_add_gpu
