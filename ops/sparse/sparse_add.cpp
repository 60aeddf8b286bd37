// Sums of sparse tensors, and the gradient.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_add_op {
namespace {

result<shapes> infer_sparse_add(const infer_context& at) {
  TROUPE_TRY(at.of_rank(6, 0));
  TROUPE_ASSIGN(auto sum, infer_sparse_pairs(at));
  sum.push_back({sum[0][1]});
  return sum;
}

edges sparse_add_gradient(gradient_context& at) {
  std::vector<edge> inputs{at.output_gradient(1), at.input(0), at.input(3), at.output(0)};
  return {{}, build("SparseAddGrad", inputs), {}, {}, build("SparseAddGrad", inputs, {}, 1), {},
          {}};
}

result<shapes> infer_sparse_add_grad(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_ASSIGN(auto a, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto b, at.of_rank(2, 2));
  TROUPE_TRY(at.of_rank(3, 2));
  return shapes{{a[0]}, {b[0]}};
}

edges sparse_add_grad_gradient(gradient_context& at) {
  auto sum_gradient = at.input(0);
  edge sum;
  for (int i : {0, 1})
    if (at.has_output_gradient(i)) {
      auto went_to = places_in_sum(sum_gradient, at.input(1), at.input(2), at.input(3), i);
      auto share = gathered_in(sum_gradient, at.output_gradient(i), went_to);
      sum = sum ? sum + share : share;
    }
  return {sum, {}, {}, {}};
}

} // namespace

extern constexpr op_def sparse_add{
    .name = "SparseAdd",
    .doc =
        "Adds two sparse tensors of the same shape, whose indices are in order.\n\nThe sum has an "
        "element wherever one of them has one, unless both have one and the absolute value of "
        "their sum is below thresh.",
    .inputs = {{"a_indices", "i64"},
               {"a_values", "T"},
               on_host("a_shape", "i64"),
               {"b_indices", "i64"},
               {"b_values", "T"},
               on_host("b_shape", "i64"),
               {"thresh", "Treal"}},
    .outputs = {{"sum_indices", "i64"}, {"sum_values", "T"}, {"sum_shape", "i64"}},
    .attrs = {{"T", numbers}, {"Treal", real_numbers}},
    .infer = infer_sparse_add,
    .gradient = sparse_add_gradient,
    .example = R"(
y = SparseAdd(i64[[0, 1], [1, 0]], f32[1, 2], i64[2, 2],
              i64[[0, 0], [1, 0]], f32[3, -2], i64[2, 2], f32(0.5))
fetch y = i64[[0, 0], [0, 1]]
fetch y:1 = f32[3, 1]
fetch y:2 = i64[2, 2]
)",
};

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
    .infer = infer_sparse_add_grad,
    .gradient = sparse_add_grad_gradient,
    .example = R"(
dx = SparseAddGrad(f32[10, 20], i64[[0, 1], [1, 0]], i64[[0, 0], [1, 0]], i64[[0, 0], [0, 1]])
fetch dx = f32[20, 0]
fetch dx:1 = f32[10, 0]
)",
};

} // namespace troupe::ops::sparse_add_op
