// SparseDenseCwiseMul: scales the elements that are there.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_dense_cwise_mul_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(1), dense = at.input(3), dy = at.output_gradient(0);
  auto dx = build("SparseDenseCwiseMul", {at.input(0), dy, at.input(2), conjugate(dense)});
  return {{}, dx, {}, dense_gradient(at, dy * conjugate(x))};
}

} // namespace

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
    .gradient = gradient,
    .example = R"(
y = SparseDenseCwiseMul(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], f32[10, 20, 30])
fetch y = f32[20, 20, 90]
)",
};

} // namespace troupe::ops::sparse_dense_cwise_mul_op
