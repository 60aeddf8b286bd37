// SparseReduceSum: sums of the elements that are there, as a dense tensor.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_reduce_sum_op {
namespace {

edges gradient(gradient_context& at) {
  auto dims = at.input(2), dy = at.output_gradient(0);
  // What the output would be with keep_dims: the reduced axes have extent 1.
  auto kept = build("SparseReduceSum", {at.input(0), at.input(1), dims, at.input(3)},
                    {{"keep_dims", true}});
  auto spread = reshaped(dy, shape_of(kept));
  return {{}, dense_at(at.input(0), at.input(1), dims, spread), {}, {}};
}

} // namespace

extern constexpr op_def sparse_reduce_sum{
    .name = "SparseReduceSum",
    .doc = "Adds up the elements of a sparse tensor along axes; the result is dense.\n\n"
           "The sum of nothing is 0. With keep_dims the reduced axes stay, with extent 1.",
    .inputs = {{"input_indices", "i64"},
               {"input_values", "T"},
               on_host("input_shape", "i64"),
               on_host("reduction_axes", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", numbers}},
    .infer = infer_sparse_reduction,
    .gradient = gradient,
    .example = R"(
y = SparseReduceSum(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[1])
z = SparseReduceSum(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[0]) keep_dims=true
fetch y = f32[1, 5]
fetch z = f32[[2, 1, 3]]
)",
};

} // namespace troupe::ops::sparse_reduce_sum_op
