#include "troupe/ops/index/shared/tensor_scatter.cuda.hpp"

namespace troupe::ops::scatter_nd_gpu {
namespace {

template <class T>
status run_scatter_nd(kernel_context& at) {
  const auto& updates = at.input(1);
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(at.input(2))));
  return gpu::scatter_blocks(at, at.input(0), updates, dims,
                             [&](const gpu::sorted_updates& sorted, int64_t length) -> status {
                               TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
                               fill_zeros(at, *out);
                               return gpu::change_parts(at, sorted, length, out->template data<T>(),
                                                        updates.data<T>(), false, scatter_add{});
                             });
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> scatter_nd_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_scatter_nd<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd){
    .op = "ScatterNd",
    .device = device_kind::gpu,
    .run = scatter_nd_kernels(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::scatter_nd_gpu
