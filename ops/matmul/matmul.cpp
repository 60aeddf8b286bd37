// MatMul: the product of two matrices.
#include "troupe/ops/matmul/matmul.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::matmul_op {
namespace {

edges gradient(gradient_context& at) {
  return matmul_gradient(at, [](edge a, bool transpose_a, edge b, bool transpose_b) {
    return build("MatMul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
  });
}

} // namespace

extern constexpr op_def matmul{
    .name = "MatMul",
    .doc = "Multiplies two matrices, either of them transposed first if asked.",
    .inputs = {{"a", "T"}, {"b", "T"}},
    .outputs = {{"product", "T"}},
    .attrs = {{"transpose_a", false}, {"transpose_b", false}, {"T", numbers}},
    .effects = effect::autocast_allow | effect::is_product,
    .infer = infer_matmul,
    .gradient = gradient,
    .flops = matmul_flops,
    .example = R"(
a = f32[[1, 2], [3, 4]]
y = MatMul(a, f32[[1, 0], [0, 2]])
z = MatMul(a, f32[[1, 1]]) transpose_b=true
fetch y = f32[[1, 4], [3, 8]]
fetch z = f32[[3], [7]]
)",
};

} // namespace troupe::ops::matmul_op
