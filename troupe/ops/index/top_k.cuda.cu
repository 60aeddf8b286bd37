#include "troupe/ops/index/shared/top_k.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::top_k_gpu {
namespace {

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> top_k_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>,
           [](kernel_context& at) { return gpu::find_greatest<Ts>(at, at.state<int64_t>()); }}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(top_k){
    .op = "TopK",
    .device = device_kind::gpu,
    .run = top_k_kernels(gpu::sorted_types),
    .prepare = cache_attr<int64_t, "k">,
};

} // namespace troupe::ops::top_k_gpu
