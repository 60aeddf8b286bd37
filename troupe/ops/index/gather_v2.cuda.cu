#include "troupe/ops/index/shared/gather.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::gather_v2_gpu {
namespace {

status run_gather_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto how, gathering_of(at, at.state<int64_t>()));
  return gpu::gather_slices(at, how);
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gather_v2){
    .op = "GatherV2",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_gather_v2}},
    .prepare = cache_attr<int64_t, "batch_dims">,
};

} // namespace troupe::ops::gather_v2_gpu
