// SparseAdd: the sum of two sparse tensors.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_add_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(6, 0));
  TROUPE_ASSIGN(auto sum, infer_sparse_pairs(at));
  sum.push_back({sum[0][1]});
  return sum;
}

edges gradient(gradient_context& at) {
  std::vector<edge> inputs{at.output_gradient(1), at.input(0), at.input(3), at.output(0)};
  return {{}, build("SparseAddGrad", inputs), {}, {}, build("SparseAddGrad", inputs, {}, 1), {},
          {}};
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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SparseAdd(i64[[0, 1], [1, 0]], f32[1, 2], i64[2, 2],
              i64[[0, 0], [1, 0]], f32[3, -2], i64[2, 2], f32(0.5))
fetch y = i64[[0, 0], [0, 1]]
fetch y:1 = f32[3, 1]
fetch y:2 = i64[2, 2]
)",
};

} // namespace troupe::ops::sparse_add_op
