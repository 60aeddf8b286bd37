#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_diag_part_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto from, matrices_of(x.dims()));
  shape dims;
  for (int axis = 0; axis < x.rank() - 2; ++axis)
    dims.push_back(x.dims()[axis]);
  dims.push_back(from.diagonal());
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  copy_strided(at, from.places(), {x}, *out);
  return {};
}

} // namespace

extern constexpr kernel_def matrix_diag_part_any{
    .op = "MatrixDiagPart",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::matrix_diag_part_any
