#include "troupe/ops/image/shared/suppression.cuda.hpp"

namespace troupe::ops::non_max_suppression_v3_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(non_max_suppression_v3){
    .op = "NonMaxSuppressionV3",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::in_halves<gpu::suppress_by_inputs<float16, true>, gpu::put_chosen>},
            {dtype::f32, gpu::in_halves<gpu::suppress_by_inputs<float, true>, gpu::put_chosen>}},
};

} // namespace troupe::ops::non_max_suppression_v3_gpu
