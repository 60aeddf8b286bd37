#include "troupe/ops/loss/in_top_k.cuda.hpp"

namespace troupe::ops::in_top_k_v2_gpu {
namespace {

status run_in_top_k_v2(kernel_context& at) {
  if (at.input(2).rank() != 0)
    return invalid("k must be a scalar, got shape ", at.input(2).dims());
  return gpu::mark_in_top_k(at, gpu::integers{at.input(2)});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(in_top_k_v2){
    .op = "InTopKV2",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_in_top_k_v2}, {dtype::i64, run_in_top_k_v2}},
};

} // namespace troupe::ops::in_top_k_v2_gpu
