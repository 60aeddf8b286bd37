// Decompositions of matrices.
#include "troupe/ops/define/matrices.hpp"

#include <algorithm>

namespace troupe::ops::decomposition_op {
namespace {

// With h(x) the lower triangle of x and half of its diagonal, and s = l'^-1 h(l' dl) l^-1, the
// gradient of the elements that are read is h(s + s').
edges cholesky_gradient(gradient_context& at) {
  auto l = at.output(0);
  auto middle = half_lower_triangle(product(l, at.output_gradient(0), true));
  auto solved = build("MatrixTriangularSolve", {l, middle}, {{"adjoint", true}});
  auto inverse = build("MatrixTriangularSolve", {l, identity_like(l)});
  return {half_lower_triangle(product(solved, inverse) + product(inverse, solved, true, true))};
}

result<shapes> infer_qr(const infer_context& at) {
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
edges qr_gradient(gradient_context& at) {
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
  auto inner = dq + product(q, half_lower_triangle(below) + half_upper_triangle(above));
  // x r'^-1 = (r^-1 x')'
  auto inverse = build("MatrixTriangularSolve", {r, identity_like(r)}, {{"lower", false}});
  return {product(inner, inverse, false, true)};
}

result<shapes> infer_self_adjoint_eig_v2(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, square_matrices_at(at, 0));
  auto vectors = at.attr<bool>("compute_v") ? dims : partial_shape{shape{0}};
  if (!dims.has_rank())
    return shapes{dims, vectors};
  TROUPE_ASSIGN(auto e, with_matrix(dims, {dims[dims.rank() - 1]}));
  return shapes{e, vectors};
}

// With f_ij = 1 / (e_j - e_i) off the diagonal, s = v (diag(de) + f o (v' dv)) v' is the gradient
// of a full matrix. The gradient of the elements that are read is h(s + s'), the lower triangle
// with half of the diagonal.
edges self_adjoint_eig_v2_gradient(gradient_context& at) {
  auto e = at.output(0);
  auto v =
      at.attr<bool>("compute_v") ? at.output(1) : build("SelfAdjointEigV2", {at.input(0)}, {}, 1);
  auto identity = identity_like(v);
  auto middle = identity * as_row(at.output_gradient(0));
  if (at.has_output_gradient(1)) {
    // On the diagonal, 1 replaces the difference, and the product is omitted.
    auto f = (scalar_like(e, 1) - identity) / (as_row(e) - as_column(e) + identity);
    middle = middle + f * product(v, at.output_gradient(1), true);
  }
  auto partial = product(v, middle);
  return {half_lower_triangle(product(partial, v, false, true) + product(v, partial, false, true))};
}

result<shapes> infer_svd(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, matrices_at(at, 0));
  auto vectors = at.attr<bool>("compute_uv"), full = at.attr<bool>("full_matrices");
  if (!dims.has_rank())
    return vectors ? shapes{dims, dims, dims} : shapes{dims, shape{0}, shape{0}};
  auto m = dims[dims.rank() - 2], n = dims[dims.rank() - 1];
  auto p = m == unknown_extent || n == unknown_extent ? unknown_extent : std::min(m, n);
  TROUPE_ASSIGN(auto s, with_matrix(dims, {p}));
  if (!vectors)
    return shapes{s, shape{0}, shape{0}};
  TROUPE_ASSIGN(auto u, with_matrix(dims, {m, full ? m : p}));
  TROUPE_ASSIGN(auto v, with_matrix(dims, {n, full ? n : p}));
  return shapes{s, u, v};
}

// The part of dx outside of the span of the columns of x, divided by the singular values: (dx - x
// x' dx) s^-1.
edge outside(edge x, edge dx, edge s) {
  return (dx - product(x, product(x, dx, true))) / as_row(s);
}

// The derivative of Townsend, "Differentiating the singular value decomposition" (2016): with
// f_ij = 1 / (s_j^2 - s_i^2) off the diagonal,
// da = (u (f o (u'du - du'u)) s + outside(u)) v' + u (s (f o (v'dv - dv'v)) v' + outside(v)')
//    + u ds v'
edges svd_gradient(gradient_context& at) {
  auto a = at.input(0);
  auto any_vectors = at.has_output_gradient(1) || at.has_output_gradient(2);
  if (any_vectors && complex_types.contains(a.type()))
    return at.fail("only the singular values of complex matrices have a gradient");
  edge s = at.output(0), u = at.output(1), v = at.output(2);
  if (!at.attr<bool>("compute_uv") || at.attr<bool>("full_matrices")) {
    const auto& dims = a.dims();
    auto square = dims.has_rank() && dims[dims.rank() - 1] != unknown_extent &&
                  dims[dims.rank() - 1] == dims[dims.rank() - 2];
    if (any_vectors && !square)
      return at.fail("with full_matrices only square matrices' vectors have a gradient");
    if (!square || !at.attr<bool>("compute_uv")) {
      u = build("Svd", {a}, {}, 1);
      v = edge{u.node, 2};
    }
  }
  auto da = product(u * as_row(at.output_gradient(0)), v, false, true);
  if (!any_vectors)
    return {da};
  auto squares = s * s, one = identity_like(u);
  // On the diagonal 1 replaces a difference that is multiplied by 0.
  auto f = scalar_like(s, 1) / (as_row(squares) - as_column(squares) + one);
  if (at.has_output_gradient(1)) {
    auto du = at.output_gradient(1);
    auto turned = f * (product(u, du, true) - product(du, u, true));
    da = da + product(product(u, turned) * as_row(s) + outside(u, du, s), v, false, true);
  }
  if (at.has_output_gradient(2)) {
    auto dv = at.output_gradient(2);
    auto turned = f * (product(v, dv, true) - product(dv, v, true));
    da = da + product(u, product(v, as_column(s) * turned, false, true) + outside(v, dv, s), false,
                      true);
  }
  return {da};
}

} // namespace

extern constexpr op_def cholesky{
    .name = "Cholesky",
    .doc = "Computes the lower triangular l with l l' = input for each matrix, which must be "
           "Hermitian and positive definite.\n\nThe last two axes are the matrices. Only their "
           "lower triangles are read, and the gradient is with respect to these. "
           "A matrix that is not positive definite gives NaN in the lower triangle.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", field_types}},
    .effects = effect::forwardable,
    .infer = infer_square,
    .gradient = cholesky_gradient,
    .example = R"(
y = Cholesky(f32[[[4, 2], [2, 10]], [[1, 0], [0, 9]]])
fetch y = f32[[[2, 0], [1, 3]], [[1, 0], [0, 3]]]
)",
};

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
    .infer = infer_qr,
    .gradient = qr_gradient,
    .example = R"(
a = f32[[3, 1], [4, 2], [0, 5]]
q = Qr(a)
again = BatchMatMulV2(q, q:1)
fetch again = f32[[3, 1], [4, 2], [0, 5]]
)",
};

extern constexpr op_def self_adjoint_eig_v2{
    .name = "SelfAdjointEigV2",
    .doc = "Computes the eigenvalues of each Hermitian matrix, and their eigenvectors.\n\nThe last "
           "two axes are the matrices; only their lower triangles are read, and the gradient is "
           "with respect to these. Eigenvalues increase; eigenvectors are the columns of v, which "
           "is empty without compute_v. Their signs are whatever the algorithm leaves. The "
           "gradient of eigenvectors is defined where eigenvalues differ. A matrix that is not "
           "finite fails.",
    .inputs = {{"input", "T"}},
    .outputs = {{"e", "T"}, {"v", "T"}},
    .attrs = {{"compute_v", true}, {"T", field_types}},
    .infer = infer_self_adjoint_eig_v2,
    .gradient = self_adjoint_eig_v2_gradient,
    .example = R"(
e = SelfAdjointEigV2(f32[[2, 1], [1, 2]])
fetch e = f32[1, 3]
)",
};

extern constexpr op_def svd{
    .name = "Svd",
    .doc = "Computes the singular values of each matrix, and the vectors that belong to them.\n\n"
           "The last two axes are the matrices, and input = u * diag(s) * v'. Values decrease. "
           "Vectors are the columns of u and v: as many as values, or bases of the whole space "
           "with full_matrices; empty without compute_uv. Their signs are whatever the algorithm "
           "leaves. A matrix that is not finite gives NaN. The gradient of vectors is defined for "
           "real matrices with values that differ and are not 0.",
    .inputs = {{"input", "T"}},
    .outputs = {{"s", "T"}, {"u", "T"}, {"v", "T"}},
    .attrs = {{"compute_uv", true}, {"full_matrices", false}, {"T", field_types}},
    .infer = infer_svd,
    .gradient = svd_gradient,
    .example = R"(
a = f32[[3, 0], [4, 5], [0, 0]]
usv = Svd(a)
fetch usv = f32[6.7082039, 2.2360680]
)",
};

} // namespace troupe::ops::decomposition_op
