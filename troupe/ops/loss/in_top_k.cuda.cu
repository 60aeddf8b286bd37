#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/loss/in_top_k.cuda.hpp"

namespace troupe::ops::in_top_k_gpu {
namespace {

status run_in_top_k(kernel_context& at) {
  return gpu::mark_in_top_k(at, gpu::known_k{at.state<int64_t>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(in_top_k){
    .op = "InTopK",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_in_top_k}, {dtype::i64, run_in_top_k}},
    .prepare = cache_attr<int64_t, "k">,
};

} // namespace troupe::ops::in_top_k_gpu
