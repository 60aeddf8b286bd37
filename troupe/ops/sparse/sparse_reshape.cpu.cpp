#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_reshape_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::make(at.input(0), at.input(1)));
  const auto& wanted = at.input(2);
  if (wanted.rank() != 1)
    return invalid("new_shape must be a vector, got shape ", wanted.dims());
  auto extents = to_integers(wanted);
  TROUPE_ASSIGN(auto dims, fit_elements({extents.data(), extents.size()}, x.dims().elements()));
  TROUPE_TRY(make_indices(at, 0, x.positions(), dims));
  return make_dims(at, 1, dims);
}

} // namespace

extern constexpr kernel_def sparse_reshape_cpu{
    .op = "SparseReshape",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::sparse_reshape_cpu
