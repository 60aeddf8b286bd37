// Svd: singular values and vectors.
#include "troupe/ops/define/matrices.hpp"

#include <algorithm>

namespace troupe::ops::svd_op {
namespace {

result<shapes> infer(const infer_context& at) {
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

// The part of dx that lies outside of what the columns of x span, divided by the singular values:
// (dx - x x' dx) s^-1.
edge outside(edge x, edge dx, edge s) {
  return (dx - product(x, product(x, dx, true))) / as_row(s);
}

// The derivative of Townsend, "Differentiating the singular value decomposition" (2016): with
// f_ij = 1 / (s_j^2 - s_i^2) off the diagonal,
// da = (u (f o (u'du - du'u)) s + outside(u)) v' + u (s (f o (v'dv - dv'v)) v' + outside(v)')
//    + u ds v'
edges gradient(gradient_context& at) {
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
  // On the diagonal 1 stands for what is multiplied by 0.
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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
a = f32[[3, 0], [4, 5], [0, 0]]
usv = Svd(a)
fetch usv = f32[6.7082039, 2.2360680]
)",
};

} // namespace troupe::ops::svd_op
