#include "troupe/ops/index/shared/nd_indices.hpp"
#include "troupe/ops/index/shared/tensor_scatter.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::gather_nd_cpu {
namespace {

status run_gather_nd(kernel_context& at) {
  const auto& params = at.input(0);
  TROUPE_ASSIGN(auto blocks, blocks_named(at, at.input(1), params.dims(), at.state<std::string>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, blocks.dims));
  if (out->elements() > 0)
    take_blocks(at, params, blocks.places, blocks.length, *out);
  return {};
}

template <class T>
status run_scatter_nd(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(at.input(2))));
  TROUPE_ASSIGN(auto blocks, blocks_to_update(at, at.input(0), at.input(1), dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  scatter<T, scatter_add>(at, at.input(1), blocks, *out);
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_scatter_nd<Ts>}...};
}

} // namespace

extern constexpr kernel_def gather_nd_cpu{
    .op = "GatherNd",
    .run = {{dtype::none, run_gather_nd}},
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def resource_gather_nd_cpu{
    .op = "ResourceGatherNd",
    .run = {{dtype::none, run_gather_nd}},
    .prepare = keep_no_policy,
};

extern constexpr kernel_def scatter_nd_cpu{
    .op = "ScatterNd",
    .run = kernels(types::numbers + types::boolean + types::string),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::gather_nd_cpu
