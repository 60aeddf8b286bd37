#include "troupe/ops/index/shared/tensor_scatter.cpu.hpp"

namespace troupe::ops::scatter_nd_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(at.input(2))));
  TROUPE_ASSIGN(auto blocks, blocks_to_update(at, at.input(0), at.input(1), dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  scatter<T, scatter_add>(at, at.input(1), blocks, *out);
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def scatter_nd_cpu{
    .op = "ScatterNd",
    .run = kernels(types::numbers + types::boolean + types::string),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::scatter_nd_cpu
