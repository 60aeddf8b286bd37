// Products of many matrices. The second version broadcasts.
#include "troupe/ops/define/matrices.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"
#include "troupe/runtime/graph/op.hpp"

#include <algorithm>

namespace troupe::ops::batch_matmul_op {
namespace {

// For z = x * y: dx = dz * y', dy = x' * dz. Where an operand was adjoint, so is its gradient.
// Where it was broadcast, its gradients are summed.
edges batch_matmul_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto adj_x = at.attr<bool>("adj_x"), adj_y = at.attr<bool>("adj_y");
  auto dx = adj_x ? product(y, dz, adj_y, true) : product(dz, y, false, !adj_y);
  auto dy = adj_y ? product(dz, x, true, adj_x) : product(x, dz, !adj_x, false);
  return {unbroadcast(dx, x, dx), unbroadcast(dy, y, dy)};
}

result<shapes> infer_batch_matmul(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, infer_product(at.input(0), at.attr<bool>("adj_x"), at.input(1),
                                         at.attr<bool>("adj_y")));
  return shapes{dims};
}

double batch_matmul_flops(const node& from_node) {
  return product_flops(from_node.inputs()[0].dims(), from_node.attr<bool>("adj_x"),
                       from_node.output_shape(0));
}

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
    .effects = effect::autocast_allow | effect::is_product,
    .infer = infer,
    .gradient = batch_matmul_gradient,
    .flops = batch_matmul_flops,
    .example = R"(
z = BatchMatMul(f32[[[1, 2], [3, 4]], [[1, 0], [0, 1]]], f32[[[1], [2]], [[3], [4]]])
fetch z = f32[[[5], [11]], [[3], [4]]]
)",
};

extern constexpr op_def batch_matmul_v2{
    .name = "BatchMatMulV2",
    .doc =
        "Multiplies each matrix of x by a matrix of y.\n\nThe last two axes are the matrices; all "
        "others broadcast by NumPy's rules. With adj_x or adj_y the operand is transposed "
        "first, and conjugated.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"adj_x", false}, {"adj_y", false}, {"T", numbers}},
    .effects = effect::autocast_allow | effect::is_product | effect::broadcasting,
    .infer = infer_batch_matmul,
    .gradient = batch_matmul_gradient,
    .flops = batch_matmul_flops,
    .example = R"(
x = f32[[[1, 2], [3, 4]], [[1, 0], [0, 1]]]
z = BatchMatMulV2(x, f32[[1], [2]])
t = BatchMatMulV2(x, f32[[[1, 1]]]) adj_x=true adj_y=true
fetch z = f32[[[5], [11]], [[1], [2]]]
fetch t = f32[[[4], [6]], [[1], [1]]]
)",
};

} // namespace troupe::ops::batch_matmul_op
