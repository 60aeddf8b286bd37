// Products of batches of matrices on NVIDIA GPUs.
#pragma once
#include "troupe/devices/gpu/cuda/gemm.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops {

/// Like multiply(), for floating-point matrices, on the kernel's device.
product_function multiply_on_gpu;

/// The same, with a bias added to each column and negative results replaced by zero, as `last`
/// selects.
status multiply_on_gpu(kernel_context& at, const matrix_product& product, const tensor& a,
                       const tensor& b, tensor& c, const troupe::gpu::epilogue& last);

/// The types that GPUs multiply, each with its kernel.
constexpr inplace_vector<typed_kernel, 18> gpu_product_kernels(kernel_fn run) {
  return {{dtype::f16, run}, {dtype::bf16, run}, {dtype::f32, run}, {dtype::f64, run}};
}

} // namespace troupe::ops
