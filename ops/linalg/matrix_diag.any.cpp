#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_diag_any {
namespace {

status run_diag(kernel_context& at) {
  const auto& diagonal = at.input(0);
  std::vector<int64_t> extents{diagonal.dims().begin(), diagonal.dims().end()};
  extents.insert(extents.end(), diagonal.dims().begin(), diagonal.dims().end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  matrices placement{1, diagonal.elements(), diagonal.elements()};
  copy_to_strided(at, placement.places(), diagonal, {*out});
  return {};
}

status run_diag_part(kernel_context& at) {
  const auto& x = at.input(0);
  auto half = static_cast<size_t>(x.rank() / 2);
  auto first = x.dims().extents().first(half);
  if (x.rank() == 0 || x.rank() % 2 != 0 ||
      !std::ranges::equal(first, x.dims().extents().last(half)))
    return invalid("the second half of the axes must be like the first, got shape ", x.dims());
  TROUPE_ASSIGN(auto dims, shape::make(first));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  matrices placement{1, dims.elements(), dims.elements()};
  copy_strided(at, placement.places(), {x}, *out);
  return {};
}

status run_matrix_diag(kernel_context& at) {
  const auto& diagonal = at.input(0);
  if (diagonal.rank() == 0)
    return invalid("diagonal must have an axis, got a scalar");
  std::vector<int64_t> extents{diagonal.dims().begin(), diagonal.dims().end()};
  extents.push_back(extents.back());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto target, matrices_of(dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  copy_to_strided(at, target.places(), diagonal, {*out});
  return {};
}

status run_matrix_diag_part(kernel_context& at) {
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

status run_matrix_set_diag(kernel_context& at) {
  const auto &x = at.input(0), &diagonal = at.input(1);
  TROUPE_ASSIGN(auto in, matrices_of(x.dims()));
  TROUPE_ASSIGN(auto diagonal_dims, diagonals_of(x.dims()));
  if (!diagonal_dims.compatible(diagonal.dims()))
    return invalid("diagonal must have shape ", diagonal_dims, ", got ", diagonal.dims());
  TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
  copy_to_strided(at, in.places(), diagonal, {*out});
  return {};
}

} // namespace

extern constexpr kernel_def diag_any{
    .op = "Diag",
    .run = {{dtype::none, run_diag}},
    .on_any_device = true,
};

extern constexpr kernel_def diag_part_any{
    .op = "DiagPart",
    .run = {{dtype::none, run_diag_part}},
    .on_any_device = true,
};

extern constexpr kernel_def matrix_diag_any{
    .op = "MatrixDiag",
    .run = {{dtype::none, run_matrix_diag}},
    .on_any_device = true,
};

extern constexpr kernel_def matrix_diag_part_any{
    .op = "MatrixDiagPart",
    .run = {{dtype::none, run_matrix_diag_part}},
    .on_any_device = true,
};

extern constexpr kernel_def matrix_set_diag_any{
    .op = "MatrixSetDiag",
    .run = {{dtype::none, run_matrix_set_diag}},
    .on_any_device = true,
};

} // namespace troupe::ops::matrix_diag_any
