// SparseAddGrad: the gradients of the two that SparseAdd added.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_add_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_ASSIGN(auto a, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto b, at.of_rank(2, 2));
  TROUPE_TRY(at.of_rank(3, 2));
  return shapes{{a[0]}, {b[0]}};
}

edges gradient(gradient_context& at) {
  auto given = at.input(0);
  edge sum;
  for (int i : {0, 1})
    if (at.has_output_gradient(i)) {
      auto went_to = places_in_sum(given, at.input(1), at.input(2), at.input(3), i);
      auto share = gathered_in(given, at.output_gradient(i), went_to);
      sum = sum ? sum + share : share;
    }
  return {sum, {}, {}, {}};
}

} // namespace

extern constexpr op_def sparse_add_grad{
    .name = "SparseAddGrad",
    .doc = "Hands the gradient of each element of a sum to the elements of a and b that it was "
           "made of.\n\nElements whose sum was left out get 0. All indices are in order.",
    .inputs = {{"backprop_val_grad", "T"},
               {"a_indices", "i64"},
               {"b_indices", "i64"},
               {"sum_indices", "i64"}},
    .outputs = {{"a_val_grad", "T"}, {"b_val_grad", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
dx = SparseAddGrad(f32[10, 20], i64[[0, 1], [1, 0]], i64[[0, 0], [1, 0]], i64[[0, 0], [0, 1]])
fetch dx = f32[20, 0]
fetch dx:1 = f32[10, 0]
)",
};

} // namespace troupe::ops::sparse_add_grad_op
