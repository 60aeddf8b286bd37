// Qr: orthogonal and triangular factors.
#include "troupe/ops/define/matrices.hpp"

#include <algorithm>

namespace troupe::ops::qr_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, matrices_at(at, 0));
  if (!dims.has_rank())
    return shapes{dims, dims};
  auto m = dims[dims.rank() - 2], n = dims[dims.rank() - 1];
  auto p = m == unknown_extent || n == unknown_extent ? unknown_extent : std::min(m, n);
  p = at.attr<bool>("full_matrices") ? m : p;
  TROUPE_ASSIGN(auto q, with_matrix(dims, {m, p}));
  TROUPE_ASSIGN(auto r, with_matrix(dims, {p, n}));
  return shapes{q, r};
}

// With m = r dr' - dq' q and h(m) the lower triangle of m, mirrored to be Hermitian,
// da = (dq + q h(m)) r'^-1.
edges gradient(gradient_context& at) {
  const auto& dims = at.input(0).dims();
  auto rows = dims.has_rank() ? dims[dims.rank() - 2] : unknown_extent;
  auto columns = dims.has_rank() ? dims[dims.rank() - 1] : unknown_extent;
  if (rows != unknown_extent && columns != unknown_extent && rows < columns)
    return at.fail("the gradient is defined for as many rows as columns, or more");
  if (at.attr<bool>("full_matrices") && (rows == unknown_extent || rows != columns))
    return at.fail("with full_matrices the gradient is defined for square matrices only");
  auto q = at.output(0), r = at.output(1);
  auto dq = at.output_gradient(0), dr = at.output_gradient(1);
  auto below = product(r, dr, false, true) - product(dq, q, true);
  auto above = product(dr, r, false, true) - product(q, dq, true); // its adjoint
  auto left = dq + product(q, half_lower_triangle(below) + half_upper_triangle(above));
  // x r'^-1 = (r^-1 x')'
  auto inverse = build("MatrixTriangularSolve", {r, identity_like(r)}, {{"lower", false}});
  return {product(left, inverse, false, true)};
}

} // namespace

extern constexpr op_def qr{
    .name = "Qr",
    .doc = "Factorizes each matrix into q, with orthonormal columns, and the upper triangular "
           "r.\n\nThe last two axes are the matrices, and input = q * r. For m rows and n columns "
           "q has min(m, n) columns, or m with full_matrices. The signs of the rows of r, and of "
           "the columns of q with them, are whatever the algorithm leaves. The gradient is defined "
           "for matrices of full rank, with as many rows as columns or more.",
    .inputs = {{"input", "T"}},
    .outputs = {{"q", "T"}, {"r", "T"}},
    .attrs = {{"full_matrices", false}, {"T", field_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
a = f32[[3, 1], [4, 2], [0, 5]]
q = Qr(a)
again = BatchMatMulV2(q, q:1)
fetch again = f32[[3, 1], [4, 2], [0, 5]]
)",
};

} // namespace troupe::ops::qr_op
