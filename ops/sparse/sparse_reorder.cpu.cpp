#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_reorder_cpu {
namespace {

status run_sparse_reorder(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  auto order = x.sorted();
  std::vector<int64_t> positions(order.size());
  std::ranges::transform(order, positions.begin(),
                         [&](int64_t i) { return x.positions()[static_cast<size_t>(i)]; });
  TROUPE_TRY(make_indices(at, 0, positions, x.dims()));
  return make_values(at, 1, x.values(), order);
}

status run_sparse_reshape(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::make(at.input(0), at.input(1)));
  const auto& new_shape = at.input(2);
  if (new_shape.rank() != 1)
    return invalid("new_shape must be a vector, got shape ", new_shape.dims());
  auto extents = to_integers(new_shape);
  TROUPE_ASSIGN(auto dims, fit_elements({extents.data(), extents.size()}, x.dims().elements()));
  TROUPE_TRY(make_indices(at, 0, x.positions(), dims));
  return make_dims(at, 1, dims);
}

} // namespace

extern constexpr kernel_def sparse_reorder_cpu{
    .op = "SparseReorder",
    .run = {{dtype::none, run_sparse_reorder}},
};

extern constexpr kernel_def sparse_reshape_cpu{
    .op = "SparseReshape",
    .run = {{dtype::none, run_sparse_reshape}},
};

} // namespace troupe::ops::sparse_reorder_cpu
