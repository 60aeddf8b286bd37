// SparseMatMul: the product of two matrices of f32 or bf16.
#include "troupe/ops/matmul/matmul.hpp"

namespace troupe::ops::sparse_matmul_op {
namespace {

edges gradient(gradient_context& at) {
  auto gradients = matmul_gradient(at, [](edge a, bool transpose_a, edge b, bool transpose_b) {
    return build("SparseMatMul", {a, b},
                 {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
  });
  return {cast_to(gradients[0], at.input(0).type()), cast_to(gradients[1], at.input(1).type())};
}

} // namespace

extern constexpr op_def sparse_matmul{
    .name = "SparseMatMul",
    .doc = "Multiplies two matrices of f32 or bf16, either of them transposed first if asked.\n\n"
           "The product is f32. Operands are dense; a_is_sparse and b_is_sparse hint at many "
           "zeros and change nothing.",
    .inputs = {{"a", "Ta"}, {"b", "Tb"}},
    .outputs = {{"product", "f32"}},
    .attrs = {{"transpose_a", false},
              {"transpose_b", false},
              {"a_is_sparse", false},
              {"b_is_sparse", false},
              {"Ta", one_of(dtype::f32, dtype::bf16), dtype::f32},
              {"Tb", one_of(dtype::f32, dtype::bf16), dtype::f32}},
    .infer = infer_matmul,
    .gradient = gradient,
    .flops = matmul_flops,
    .example = R"(
y = SparseMatMul(f32[[1, 0], [0, 4]], bf16[[1, 0], [3, 2]]) a_is_sparse=true
fetch y = f32[[1, 0], [12, 8]]
)",
};

} // namespace troupe::ops::sparse_matmul_op
