#include "troupe/ops/image/shared/resize.cuda.hpp"

namespace troupe::ops::resize_bilinear_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_bilinear){
    .op = "ResizeBilinear",
    .device = device_kind::gpu,
    .run = gpu::resize_kernels<linear_taps>(types::floating + type_list<uint8_t>{}),
    .prepare = keep_resize_options,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_bilinear_grad){
    .op = "ResizeBilinearGrad",
    .device = device_kind::gpu,
    .run = gpu::resize_gradient_kernels<linear_taps>(types::floating),
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_bilinear_gpu
