#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_set_diag_any {
namespace {

status run(kernel_context& at) {
  const auto &x = at.input(0), &diagonal = at.input(1);
  TROUPE_ASSIGN(auto in, matrices_of(x.dims()));
  TROUPE_ASSIGN(auto wanted, diagonals_of(x.dims()));
  if (!wanted.compatible(diagonal.dims()))
    return invalid("diagonal must have shape ", wanted, ", got ", diagonal.dims());
  TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
  copy_to_strided(at, in.places(), diagonal, {*out});
  return {};
}

} // namespace

extern constexpr kernel_def matrix_set_diag_any{
    .op = "MatrixSetDiag",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::matrix_set_diag_any
