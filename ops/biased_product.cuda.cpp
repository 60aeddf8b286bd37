#include "troupe/ops/biased_product.hpp"

#include "troupe/devices/cuda/gemm.hpp"

namespace troupe::ops {
namespace {

status multiply_with_bias(kernel_context& at, const matrix_product& what, const tensor& a,
                          const tensor& b, tensor& c) {
  const gpu::epilogue last{.bias = at.input(2).raw(),
                           .rectify = at.state<biased_product>().rectify};
  if (c.elements() == 0)
    return {};
  auto& gpu = gpu::gpu_of(at.device());
  return gpu::gemm(gpu, at.memory(),
                   {.type = c.type(),
                    .transpose_a = what.a.transpose,
                    .transpose_b = what.b.transpose,
                    .m = what.m,
                    .n = what.n,
                    .k = what.k,
                    .stride_c = what.m * what.n},
                   a.raw(), b.raw(), c.raw(), last);
}

status run(kernel_context& at) { return multiply_and_add(at, multiply_with_bias); }

} // namespace

extern constexpr kernel_def biased_product_cuda{
    .op = "_BiasedProduct",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run}, {dtype::bf16, run}, {dtype::f32, run}},
    .prepare = prepare_biased_product,
};

} // namespace troupe::ops
