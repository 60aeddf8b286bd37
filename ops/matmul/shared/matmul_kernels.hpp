// Shared by the kernels of MatMul and SparseMatMul.
#pragma once
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops {

struct transposition {
  bool a, b;
};

inline result<std::shared_ptr<void>> prepare_matmul(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<transposition>(transposition{
      setup.origin.attr<bool>("transpose_a"), setup.origin.attr<bool>("transpose_b")})};
}

/// Multiplies a and b, which have the output's type, into output 0; `multiply` is the device's
/// product.
inline status multiply_matrices(kernel_context& at, const tensor& a, const tensor& b,
                                product_function* multiply) {
  if (a.rank() != 2 || b.rank() != 2)
    return invalid("takes two matrices, got shapes ", a.dims(), " and ", b.dims());
  const auto& across = at.state<transposition>();
  TROUPE_ASSIGN(auto plan, plan_product(a.dims(), {across.a}, b.dims(), {across.b}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  return multiply(at, plan.what, a, b, *out);
}

} // namespace troupe::ops
