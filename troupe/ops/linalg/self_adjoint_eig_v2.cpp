// SelfAdjointEigV2: eigenvalues and eigenvectors of Hermitian matrices.
#include "troupe/ops/define/matrices.hpp"

namespace troupe::ops::self_adjoint_eig_v2_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, square_matrices_at(at, 0));
  auto vectors = at.attr<bool>("compute_v") ? dims : partial_shape{shape{0}};
  if (!dims.has_rank())
    return shapes{dims, vectors};
  TROUPE_ASSIGN(auto e, with_matrix(dims, {dims[dims.rank() - 1]}));
  return shapes{e, vectors};
}

// With f_ij = 1 / (e_j - e_i) off the diagonal, s = v (diag(de) + f o (v' dv)) v' is the gradient
// of a whole matrix; h(s + s'), the lower triangle with half of the diagonal, that of the elements
// that are read.
edges gradient(gradient_context& at) {
  auto e = at.output(0);
  auto v =
      at.attr<bool>("compute_v") ? at.output(1) : build("SelfAdjointEigV2", {at.input(0)}, {}, 1);
  auto one = identity_like(v);
  auto middle = one * as_row(at.output_gradient(0));
  if (at.has_output_gradient(1)) {
    // On the diagonal, 1 stands for the difference, and the product is left out.
    auto f = (scalar_like(e, 1) - one) / (as_row(e) - as_column(e) + one);
    middle = middle + f * product(v, at.output_gradient(1), true);
  }
  auto left = product(v, middle);
  return {half_lower_triangle(product(left, v, false, true) + product(v, left, false, true))};
}

} // namespace

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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
e = SelfAdjointEigV2(f32[[2, 1], [1, 2]])
fetch e = f32[1, 3]
)",
};

} // namespace troupe::ops::self_adjoint_eig_v2_op
