#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/ordered_scatter.cuda.hpp"
#include "troupe/ops/sparse/sparse_to_dense.hpp"

namespace troupe::ops::sparse_to_dense_gpu {
namespace {

struct in_order_body {
  gpu::block_numbers positions;
  gpu::device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto previous_position = positions[i], position = positions[i + 1];
    if (previous_position >= 0 && position >= 0 && position <= previous_position)
      wrong.add(i + 1, 0);
  }
};

status run_sparse_to_dense(kernel_context& at) {
  const auto &values = at.input(2), &otherwise = at.input(3);
  TROUPE_ASSIGN(auto indices, listed(at.input(0)));
  TROUPE_ASSIGN(auto dims, dense_shape(indices, at.input(1)));
  auto count = indices.dims()[0];
  TROUPE_TRY(check_scattered(values, otherwise, count));
  if (at.state<bool>() && count > 1)
    TROUPE_TRY(gpu::for_each(
        at, count - 1,
        in_order_body{{at, indices, dims.rank(), dims, true},
                      {at, "indices that are not in lexicographic order, each once: the list"}}));
  TROUPE_ASSIGN(auto sorted, gpu::sort_updates(at, indices, count, dims.rank(), dims, false));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_elements(otherwise, {*out}, out->elements());
  return gpu::put_parts(at, sorted, 1, *out, values);
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_to_dense){
    .op = "SparseToDense",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_sparse_to_dense}},
    .prepare = cache_attr<bool, "validate_indices">,
};

} // namespace troupe::ops::sparse_to_dense_gpu
