// Products of matrices on NVIDIA GPUs, by cuBLASLt.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"

namespace troupe::gpu {

/// c = op(a) * op(b) for `batches` products: c is m x n, op(a) is m x k, op(b) is k x n. op
/// transposes if `transpose_a` or `transpose_b`. All are row-major and dense. Strides are the
/// distances of matrices of a batch, in elements, and may be 0 for a and b.
struct product {
  dtype type = dtype::f32; ///< f16, bf16, f32 or f64; halves are summed as f32
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t batches = 1, stride_a = 0, stride_b = 0, stride_c = 0;

  bool operator==(const product&) const = default;
};

/// Launches a product; no extent is 0, but k may be 0 with a bias. Workspace is allocated from
/// `memory`. The channels of a bias are the columns of c (f16, bf16 or f32), whose matrices must be
/// contiguous. The bias is added before c is rounded if the library supports that.
status gemm(gpu_device& target, allocator& memory, const product& problem, const void* a,
            const void* b, void* c, const epilogue& last = {});

} // namespace troupe::gpu
