// Products of batches of matrices on NVIDIA GPUs.
#pragma once
#include "troupe/ops/math/matrix_product.hpp"

namespace troupe::ops {

/// As multiply(), for floating-point matrices, on the device of the kernel.
product_function multiply_on_gpu;

/// The types that GPUs multiply, with a kernel that does.
constexpr upto<typed_kernel, 18> gpu_product_kernels(kernel_fn run) {
  return {{dtype::f16, run}, {dtype::bf16, run}, {dtype::f32, run}, {dtype::f64, run}};
}

} // namespace troupe::ops
