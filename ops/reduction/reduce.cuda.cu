#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::reduce_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sum){
    .op = "Sum",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<addition>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(mean){
    .op = "Mean",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<average>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(prod){
    .op = "Prod",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<multiplication>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(euclidean_norm){
    .op = "EuclideanNorm",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<euclidean_length>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(max){
    .op = "Max",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<largest>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(min){
    .op = "Min",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<smallest>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(all){
    .op = "All",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::reduce<bool, conjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(any){
    .op = "Any",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::reduce<bool, disjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::reduce_gpu
