// Reductions of sparse tensors.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_reduce_op {
namespace {

edges sparse_reduce_sum_gradient(gradient_context& at) {
  auto dims = at.input(2), dy = at.output_gradient(0);
  // The output with keep_dims: the reduced axes have extent 1.
  auto kept_sum = build("SparseReduceSum", {at.input(0), at.input(1), dims, at.input(3)},
                        {{"keep_dims", true}});
  auto spread = reshaped(dy, shape_of(kept_sum));
  return {{}, dense_at(at.input(0), at.input(1), dims, spread), {}, {}};
}

// Tied elements share the gradient.
edges sparse_reduce_max_gradient(gradient_context& at) {
  auto indices = at.input(0), x = at.input(1), dims = at.input(2), axes = at.input(3);
  auto kept_maximum = build("SparseReduceMax", {indices, x, dims, axes}, {{"keep_dims", true}});
  auto chosen = cast_to(build("Equal", {x, dense_at(indices, x, dims, kept_maximum)}), x.type());
  auto shares = build("SparseReduceSum", {indices, chosen, dims, axes}, {{"keep_dims", true}});
  auto dy = reshaped(at.output_gradient(0), shape_of(kept_maximum));
  auto dx = chosen * (dense_at(indices, x, dims, dy) / dense_at(indices, x, dims, shares));
  return {{}, dx, {}, {}};
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
    .gradient = sparse_reduce_sum_gradient,
    .example = R"(
y = SparseReduceSum(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[1])
z = SparseReduceSum(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[0]) keep_dims=true
fetch y = f32[1, 5]
fetch z = f32[[2, 1, 3]]
)",
};

extern constexpr op_def sparse_reduce_max{
    .name = "SparseReduceMax",
    .doc =
        "Finds the largest elements of a sparse tensor along axes; the result is "
        "dense.\n\nElements that are not there do not count; where there are none the result is 0. "
        "With keep_dims the reduced axes stay, with extent 1. Elements that are equally large "
        "share the gradient.",
    .inputs = {{"input_indices", "i64"},
               {"input_values", "T"},
               on_host("input_shape", "i64"),
               on_host("reduction_axes", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", real_numbers}},
    .infer = infer_sparse_reduction,
    .gradient = sparse_reduce_max_gradient,
    .example = R"(
y = SparseReduceMax(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[1])
z = SparseReduceMax(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[0]) keep_dims=true
fetch y = f32[1, 3]
fetch z = f32[[2, 1, 3]]
)",
};

} // namespace troupe::ops::sparse_reduce_op
