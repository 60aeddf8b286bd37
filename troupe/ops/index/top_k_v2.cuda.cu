#include "troupe/ops/index/shared/top_k.cuda.hpp"

namespace troupe::ops::top_k_v2_gpu {
namespace {

template <class T>
status run_top_k_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto k, listed_k(at));
  return gpu::find_greatest<T>(at, k);
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> top_k_v2_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_top_k_v2<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(top_k_v2){
    .op = "TopKV2",
    .device = device_kind::gpu,
    .run = top_k_v2_kernels(gpu::sorted_types),
};

} // namespace troupe::ops::top_k_v2_gpu
