#include "troupe/ops/index/shared/gather.cuda.hpp"

namespace troupe::ops::gather_gpu {
namespace {

status run_gather(kernel_context& at) {
  TROUPE_TRY(check_params(at.input(0)));
  return gpu::gather_slices(at, {});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gather){
    .op = "Gather",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_gather}},
};

} // namespace troupe::ops::gather_gpu
