// Products of matrices within GPU kernels: by the library with CUDA, otherwise by a plain loop.
#pragma once
#include "troupe/devices/gpu/cuda/gemm.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

template <class T>
struct zeros_body {
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = T{}; }
};

// Computes an element of a product.
template <class T>
struct product_body {
  troupe::gpu::product of;
  const T *a, *b;
  T* c;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto batch = i / (of.m * of.n), row = i / of.n % of.m, column = i % of.n;
    const auto *a_matrix = a + batch * of.stride_a, *b_matrix = b + batch * of.stride_b;
    compute_type<T> sum{};
    for (int64_t k = 0; k < of.k; ++k)
      sum += load(a_matrix[of.transpose_a ? k * of.m + row : row * of.k + k]) *
             load(b_matrix[of.transpose_b ? column * of.k + k : k * of.n + column]);
    c[batch * of.stride_c + row * of.n + column] = store<T>(sum);
  }
};

/// A batch of products, as gemm takes them.
template <class T>
status multiply(kernel_context& at, const troupe::gpu::product& description, const T* a, const T* b,
                T* c) {
#ifdef __CUDACC__
  return troupe::gpu::gemm(troupe::gpu::gpu_of(at.device()), at.memory(), description, a, b, c);
#else
  return for_each(at, description.batches * description.m * description.n,
                  product_body<T>{description, a, b, c});
#endif
}

struct transposed_operands {
  bool a = false, b = false;
};

/// c (m x n) = a (m x k) * b (k x n), after the requested transpositions.
template <class T>
status multiply(kernel_context& at, transposed_operands across, int64_t m, int64_t n, int64_t k,
                const T* a, const T* b, T* c) {
  if (m == 0 || n == 0)
    return {};
  if (k == 0)
    return for_each(at, m * n, zeros_body<T>{c});
  return multiply(at,
                  {.type = dtype_of<T>,
                   .transpose_a = across.a,
                   .transpose_b = across.b,
                   .m = m,
                   .n = n,
                   .k = k},
                  a, b, c);
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
