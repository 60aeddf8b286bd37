// Products of matrices within kernels of GPUs: the library's where CUDA is, else a plain loop.
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

// An element of a product.
template <class T>
struct product_body {
  troupe::gpu::product of;
  const T *a, *b;
  T* c;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto batch = i / (of.m * of.n), row = i / of.n % of.m, column = i % of.n;
    const auto *left = a + batch * of.stride_a, *right = b + batch * of.stride_b;
    compute_type<T> sum{};
    for (int64_t k = 0; k < of.k; ++k)
      sum += load(left[of.transpose_a ? k * of.m + row : row * of.k + k]) *
             load(right[of.transpose_b ? column * of.k + k : k * of.n + column]);
    c[batch * of.stride_c + row * of.n + column] = store<T>(sum);
  }
};

/// Several at once, as gemm takes them.
template <class T>
status multiply(kernel_context& at, const troupe::gpu::product& of, const T* a, const T* b, T* c) {
#ifdef __CUDACC__
  return troupe::gpu::gemm(troupe::gpu::gpu_of(at.device()), at.memory(), of, a, b, c);
#else
  return for_each(at, of.batches * of.m * of.n, product_body<T>{of, a, b, c});
#endif
}

struct transposed_operands {
  bool a = false, b = false;
};

/// c (m x n) = a (m x k) * b (k x n), after transposing what is to be.
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
