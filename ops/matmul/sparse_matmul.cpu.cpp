#include "troupe/ops/matmul/shared/matmul_kernels.hpp"

#include <algorithm>

namespace troupe::ops::sparse_matmul_cpu {
namespace {

result<tensor> as_float(kernel_context& at, const tensor& from) {
  if (from.type() == dtype::f32)
    return from;
  TROUPE_ASSIGN(auto floats, tensor::make(dtype::f32, from.dims(), at.memory()));
  std::ranges::transform(from.values<bfloat16>(), floats.template data<float>(),
                         [](bfloat16 x) { return static_cast<float>(x); });
  return floats;
}

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto a, as_float(at, at.input(0)));
  TROUPE_ASSIGN(auto b, as_float(at, at.input(1)));
  return multiply_matrices(at, a, b, multiply);
}

} // namespace

extern constexpr kernel_def sparse_matmul_cpu{
    .op = "SparseMatMul",
    .run = {{dtype::none, run}},
    .key = "Ta",
    .prepare = prepare_matmul,
};

} // namespace troupe::ops::sparse_matmul_cpu
