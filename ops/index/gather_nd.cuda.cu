#include "troupe/ops/index/shared/nd_indices.hpp"
#include "troupe/ops/index/shared/tensor_scatter.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"

namespace troupe::ops::gather_nd_gpu {
namespace {

struct gather_nd_place {
  gpu::block_numbers numbers;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return numbers[i]; }
};

status run_gather_nd(kernel_context& at) {
  const auto &params = at.input(0), &indices = at.input(1);
  const auto& policy = at.state<std::string>();
  TROUPE_ASSIGN(auto blocks, block_shape_of(indices, params.dims(), policy));
  TROUPE_ASSIGN(auto* out, at.allocate(0, blocks.dims));
  return gpu::take_blocks(
      at, params, blocks.length, *out,
      gather_nd_place{{at, indices, blocks.depth, params.dims(), policy == "IGNORE"}});
}

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

extern constexpr kernel_def TROUPE_GPU_KERNEL(gather_nd){
    .op = "GatherNd",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_gather_nd}},
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(resource_gather_nd){
    .op = "ResourceGatherNd",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_gather_nd}},
    .prepare = keep_no_policy,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd){
    .op = "ScatterNd",
    .device = device_kind::gpu,
    .run = scatter_nd_kernels(gpu::scattered_types),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::gather_nd_gpu
