// BatchMatMul: products of as many pairs of matrices.
#include "troupe/ops/matmul/batch_matmul.hpp"
#include "troupe/runtime/graph/epilogue.hpp"
#include "troupe/runtime/graph/precision.hpp"

#include <algorithm>

namespace troupe::ops::batch_matmul_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto product, infer_batch_matmul(at));
  const auto &x = at.input(0), &y = at.input(1);
  if (!x.has_rank() || !y.has_rank())
    return product;
  auto front = [](const partial_shape& dims) {
    auto extents = dims.extents().first(static_cast<size_t>(dims.rank() - 2));
    return partial_shape{std::vector<int64_t>{extents.begin(), extents.end()}};
  };
  auto joint = merge(front(x), front(y));
  if (!joint)
    return at.invalid("x and y must have the same extents before the matrices, got ", x, " and ",
                      y);
  for (int axis = 0; axis < joint->rank(); ++axis)
    product[0].set(axis, (*joint)[axis]);
  return product;
}

} // namespace

extern constexpr op_def batch_matmul{
    .name = "BatchMatMul",
    .doc = "Multiplies each matrix of x by the matrix of y at the same place.\n\nThe last two axes "
           "are the matrices; all others are equal. With adj_x or adj_y the operand is transposed "
           "first, and conjugated.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"adj_x", false}, {"adj_y", false}, {"T", numbers}},
    .effects = autocast_allow | is_product,
    .infer = infer,
    .gradient = batch_matmul_gradient,
    .flops = batch_matmul_flops,
    .example = R"(
z = BatchMatMul(f32[[[1, 2], [3, 4]], [[1, 0], [0, 1]]], f32[[[1], [2]], [[3], [4]]])
fetch z = f32[[[5], [11]], [[3], [4]]]
)",
};

} // namespace troupe::ops::batch_matmul_op
