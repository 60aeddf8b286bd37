#include "troupe/ops/image/shared/resize.cuda.hpp"

namespace troupe::ops::resize_bicubic_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_bicubic){
    .op = "ResizeBicubic",
    .device = device_kind::gpu,
    .run = gpu::resize_kernels<cubic_taps>(types::floating + type_list<uint8_t>{}),
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_bicubic_gpu
