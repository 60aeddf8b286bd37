#include "troupe/ops/internal/biased_product.hpp"

#include "troupe/ops/matmul/shared/matrix_product.cuda.hpp"

namespace troupe::ops::biased_product_gpu {
namespace {

status multiply_with_bias(kernel_context& at, const matrix_product& what, const tensor& a,
                          const tensor& b, tensor& c) {
  return multiply_on_gpu(
      at, what, a, b, c,
      {.bias = at.input(2).raw(), .rectify = at.state<biased_product>().rectify});
}

status run(kernel_context& at) { return multiply_and_add(at, multiply_with_bias); }

} // namespace

extern constexpr kernel_def biased_product_cuda{
    .op = "_BiasedProduct",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run}, {dtype::bf16, run}, {dtype::f32, run}},
    .prepare = prepare_biased_product,
};

} // namespace troupe::ops::biased_product_gpu
