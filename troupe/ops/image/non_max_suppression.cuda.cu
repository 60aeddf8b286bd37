#include "troupe/ops/image/shared/suppression.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::non_max_suppression_gpu {
namespace {

status non_max_suppression_count(kernel_context& at) {
  return gpu::suppress<float>(at, {.known = static_cast<float>(at.state<double>())},
                              gpu::no_threshold());
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(non_max_suppression){
    .op = "NonMaxSuppression",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::in_halves<non_max_suppression_count, gpu::put_chosen>}},
    .prepare = cache_attr<double, "iou_threshold">,
};

} // namespace troupe::ops::non_max_suppression_gpu
