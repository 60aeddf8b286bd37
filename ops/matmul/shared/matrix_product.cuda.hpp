// Products of batches of matrices on NVIDIA GPUs.
#pragma once
#include "troupe/devices/gpu/cuda/gemm.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops {

/// As multiply(), for floating-point matrices, on the device of the kernel.
product_function multiply_on_gpu;

/// The same, with a number added to each column and what is negative replaced by zero, as `last`
/// says.
status multiply_on_gpu(kernel_context& at, const matrix_product& what, const tensor& a,
                       const tensor& b, tensor& c, const troupe::gpu::epilogue& last);

/// The types that GPUs multiply, with a kernel that does.
constexpr inplace_vector<typed_kernel, 18> gpu_product_kernels(kernel_fn run) {
  return {{dtype::f16, run}, {dtype::bf16, run}, {dtype::f32, run}, {dtype::f64, run}};
}

} // namespace troupe::ops
