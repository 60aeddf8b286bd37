#include "troupe/ops/image/shared/resize.cuda.hpp"

namespace troupe::ops::resize_bicubic_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_bicubic){
    .op = "ResizeBicubic",
    .device = device_kind::gpu,
    .run = gpu::resize_kernels<cubic_taps>(types::floating + type_list<uint8_t>{}),
    .prepare = keep_resize_options,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_bicubic_grad){
    .op = "ResizeBicubicGrad",
    .device = device_kind::gpu,
    .run = gpu::resize_gradient_kernels<cubic_taps>(type_list<float, double>{}),
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_bicubic_gpu
