// SparseSoftmax: Softmax over the stored elements.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_softmax_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  if (sparse_shape.dims.has_rank() && sparse_shape.dims.rank() < 2)
    return at.invalid("the sparse tensor must have at least 2 axes, got shape ", sparse_shape.dims);
  return shapes{{sparse_shape.count}};
}

// dx = (dy - sum(dy * y)) * y, with sums over the stored elements.
edges gradient(gradient_context& at) {
  auto indices = at.input(0), dims = at.input(2), y = at.output(0), dy = at.output_gradient(0);
  auto last = constant_like(dy, tensor::vector<int32_t>({-1}));
  auto sums = build("SparseReduceSum", {indices, dy * y, dims, last}, {{"keep_dims", true}});
  return {{}, (dy - dense_at(indices, dy, dims, sums)) * y, {}};
}

} // namespace

extern constexpr op_def sparse_softmax{
    .name = "SparseSoftmax",
    .doc = "Exponentiates, then normalizes, the elements of each row of the last axis that are "
           "there.\n\nElements that are not there stay so: they count as minus infinity, not "
           "as 0. The output is the values.",
    .inputs = {{"sp_indices", "i64"}, {"sp_values", "T"}, on_host("sp_shape", "i64")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32, dtype::f64)}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SparseSoftmax(i64[[0, 1], [1, 0], [1, 2]], f32[5, 0, 1], i64[2, 3])
fetch y = f32[1, 0.26894143, 0.7310586]
)",
};

} // namespace troupe::ops::sparse_softmax_op
