// Element-wise ops on a sparse tensor and a dense tensor that is broadcast to it.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_dense_cwise_op {
namespace {

edges sparse_dense_cwise_add_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {{}, dy, {}, dense_gradient(at, dy)};
}

edges sparse_dense_cwise_mul_gradient(gradient_context& at) {
  auto x = at.input(1), dense = at.input(3), dy = at.output_gradient(0);
  auto dx = build("SparseDenseCwiseMul", {at.input(0), dy, at.input(2), conjugate(dense)});
  return {{}, dx, {}, dense_gradient(at, dy * conjugate(x))};
}

edges sparse_dense_cwise_div_gradient(gradient_context& at) {
  auto x = at.input(1), dense = conjugate(at.input(3)), dy = at.output_gradient(0);
  auto over = [&](edge values) {
    return build("SparseDenseCwiseDiv", {at.input(0), values, at.input(2), dense});
  };
  auto dx = over(dy);
  return {{}, dx, {}, dense_gradient(at, -over(dx * conjugate(x)))};
}

} // namespace

extern constexpr op_def sparse_dense_cwise_add{
    .name = "SparseDenseCwiseAdd",
    .doc = "Adds a dense tensor to a sparse one, where that has elements.\n\nThe dense tensor "
           "is broadcast to the shape of the sparse one, which must not have to be broadcast "
           "itself. The output is the values; indices and shape stay.",
    .inputs = {{"sp_indices", "i64"},
               {"sp_values", "T"},
               on_host("sp_shape", "i64"),
               {"dense", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer_sparse_dense,
    .gradient = sparse_dense_cwise_add_gradient,
    .example = R"(
y = SparseDenseCwiseAdd(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], f32[10, 20, 30])
fetch y = f32[21, 12, 33]
)",
};

extern constexpr op_def sparse_dense_cwise_mul{
    .name = "SparseDenseCwiseMul",
    .doc = "Multiplies a sparse tensor by a dense one, element by element.\n\nThe dense tensor "
           "is broadcast to the shape of the sparse one, which must not have to be broadcast "
           "itself. The output is the values; indices and shape stay.",
    .inputs = {{"sp_indices", "i64"},
               {"sp_values", "T"},
               on_host("sp_shape", "i64"),
               {"dense", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer_sparse_dense,
    .gradient = sparse_dense_cwise_mul_gradient,
    .example = R"(
y = SparseDenseCwiseMul(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], f32[10, 20, 30])
fetch y = f32[20, 20, 90]
)",
};

extern constexpr op_def sparse_dense_cwise_div{
    .name = "SparseDenseCwiseDiv",
    .doc = "Divides a sparse tensor by a dense one, element by element.\n\nThe dense tensor is "
           "broadcast to the shape of the sparse one, which must not have to be broadcast "
           "itself. The output is the values; indices and shape stay.",
    .inputs = {{"sp_indices", "i64"},
               {"sp_values", "T"},
               on_host("sp_shape", "i64"),
               {"dense", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer_sparse_dense,
    .gradient = sparse_dense_cwise_div_gradient,
    .example = R"(
y = SparseDenseCwiseDiv(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], f32[10, 20, 30])
fetch y = f32[0.05, 0.2, 0.1]
)",
};

} // namespace troupe::ops::sparse_dense_cwise_op
