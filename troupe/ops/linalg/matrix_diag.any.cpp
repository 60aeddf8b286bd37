#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_diag_any {
namespace {

status run(kernel_context& at) {
  const auto& diagonal = at.input(0);
  if (diagonal.rank() == 0)
    return invalid("diagonal must have an axis, got a scalar");
  std::vector<int64_t> extents{diagonal.dims().begin(), diagonal.dims().end()};
  extents.push_back(extents.back());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto into, matrices_of(dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  copy_to_strided(at, into.places(), diagonal, {*out});
  return {};
}

} // namespace

extern constexpr kernel_def matrix_diag_any{
    .op = "MatrixDiag",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::matrix_diag_any
