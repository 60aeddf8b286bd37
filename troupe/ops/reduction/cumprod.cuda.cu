#include "troupe/ops/reduction/shared/scan.cuda.hpp"

namespace troupe::ops::cumprod_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(cumprod){
    .op = "Cumprod",
    .device = device_kind::gpu,
    .run = gpu::scan_kernels<multiplication>(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = prepare_scan,
};

} // namespace troupe::ops::cumprod_gpu
