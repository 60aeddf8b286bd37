// Products of matrices on NVIDIA GPUs, by cuBLASLt.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"

namespace troupe::gpu {

/// c = op(a) * op(b) for `batches` products: c is m x n, op(a) is m x k, op(b) is k x n, where op
/// transposes if told so. All are row-major and dense; strides are between the matrices of
/// neighbours, in elements, and may be 0 for a and b.
struct product {
  dtype type = dtype::f32; ///< f16, bf16, f32 or f64; halves are added up as floats
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t batches = 1, stride_a = 0, stride_b = 0, stride_c = 0;

  bool operator==(const product&) const = default;
};

/// Launches it; no extent is 0, but k may be where there is a bias. What it needs in between is
/// taken from `memory`. The channels of a bias are the columns of c (f16, bf16 or f32), whose
/// matrices then lie behind each other; it is added before c is rounded, where the library does it.
status gemm(gpu_device& on, allocator& memory, const product& what, const void* a, const void* b,
            void* c, const epilogue& last = {});

} // namespace troupe::gpu
