#include "troupe/ops/image/shared/suppression.cuda.hpp"

namespace troupe::ops::non_max_suppression_v2_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(non_max_suppression_v2){
    .op = "NonMaxSuppressionV2",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::in_halves<gpu::suppress_by_inputs<float16, false>, gpu::put_chosen>},
            {dtype::f32, gpu::in_halves<gpu::suppress_by_inputs<float, false>, gpu::put_chosen>}},
};

} // namespace troupe::ops::non_max_suppression_v2_gpu
