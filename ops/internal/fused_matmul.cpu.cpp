// A matrix product with a bias per column and an optional ReLU. On processors it is computed in
// parts; on GPUs a library fuses them.
#include "troupe/ops/internal/fused_matmul.hpp"

#include "troupe/runtime/types/compute_type.hpp"

#include <algorithm>

namespace troupe::ops::fused_matmul_cpu {
namespace {

template <class T>
status multiply_then_add(kernel_context& at, const matrix_product& product, const tensor& a,
                         const tensor& b, tensor& c) {
  TROUPE_TRY(multiply(at, product, a, b, c));
  const auto* bias = at.input(2).data<T>();
  auto* out = c.data<T>();
  auto rectify = at.state<fused_matmul>().rectify;
  for (int64_t i = 0; i < c.elements(); ++i) {
    auto value = static_cast<float>(out[i]) + static_cast<float>(bias[i % product.n]);
    out[i] = T(rectify && value <= 0 ? 0.0f : value);
  }
  return {};
}

template <class T>
status run(kernel_context& at) {
  return multiply_and_add(at, multiply_then_add<T>);
}

} // namespace

extern constexpr kernel_def fused_matmul_cpu{
    .op = "_FusedMatMul",
    .run = {{dtype::f16, run<float16>}, {dtype::bf16, run<bfloat16>}, {dtype::f32, run<float>}},
    .prepare = prepare_fused_matmul,
};

} // namespace troupe::ops::fused_matmul_cpu
