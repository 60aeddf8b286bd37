#include "troupe/ops/reduction/shared/scan.cuda.hpp"

namespace troupe::ops::cumsum_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(cumsum){
    .op = "Cumsum",
    .device = device_kind::gpu,
    .run = gpu::scan_kernels<addition>(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = prepare_scan,
};

} // namespace troupe::ops::cumsum_gpu
