// SparseDenseCwiseAdd: adds where there are elements.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_dense_cwise_add_op {
namespace {

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {{}, dy, {}, dense_gradient(at, dy)};
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
    .gradient = gradient,
    .example = R"(
y = SparseDenseCwiseAdd(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], f32[10, 20, 30])
fetch y = f32[21, 12, 33]
)",
};

} // namespace troupe::ops::sparse_dense_cwise_add_op
