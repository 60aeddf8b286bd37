#include "troupe/ops/internal/fused_matmul.hpp"

#include "troupe/ops/matmul/shared/matrix_product.cuda.hpp"

namespace troupe::ops::fused_matmul_gpu {
namespace {

status multiply_with_bias(kernel_context& at, const matrix_product& product, const tensor& a,
                          const tensor& b, tensor& c) {
  return multiply_on_gpu(at, product, a, b, c,
                         {.bias = at.input(2).raw(), .rectify = at.state<fused_matmul>().rectify});
}

status run(kernel_context& at) { return multiply_and_add(at, multiply_with_bias); }

} // namespace

extern constexpr kernel_def fused_matmul_cuda{
    .op = "_FusedMatMul",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run}, {dtype::bf16, run}, {dtype::f32, run}},
    .prepare = prepare_fused_matmul,
};

} // namespace troupe::ops::fused_matmul_gpu
