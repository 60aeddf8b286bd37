// Shared by the kernels of BatchMatMul and BatchMatMulV2.
#pragma once
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

#include <algorithm>

namespace troupe::ops {

struct adjoints {
  bool x, y;
};

inline result<std::shared_ptr<void>> prepare_batch_matmul(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<adjoints>(
      adjoints{setup.origin.attr<bool>("adj_x"), setup.origin.attr<bool>("adj_y")})};
}

/// Writes output 0; `multiply` is the device's product.
inline status multiply_batches(kernel_context& at, product_function* multiply) {
  const auto &x = at.input(0), &y = at.input(1);
  if (x.rank() < 2 || y.rank() < 2)
    return invalid("takes batches of matrices, got shapes ", x.dims(), " and ", y.dims());
  const auto& adjoint = at.state<adjoints>();
  TROUPE_ASSIGN(auto plan,
                plan_product(x.dims(), {adjoint.x, adjoint.x}, y.dims(), {adjoint.y, adjoint.y}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  return multiply(at, plan.what, x, y, *out);
}

/// Fails where an operand would be broadcast.
inline status check_pairs(const shape& x, const shape& y) {
  auto front = [](const shape& dims) {
    return dims.extents().first(static_cast<size_t>(std::max(0, dims.rank() - 2)));
  };
  if (std::ranges::equal(front(x), front(y)))
    return {};
  return invalid("x and y must have the same extents before the matrices, got ", x, " and ", y);
}

/// Like multiply_batches(), without broadcasting.
inline status multiply_pairs(kernel_context& at, product_function* multiply) {
  TROUPE_TRY(check_pairs(at.input(0).dims(), at.input(1).dims()));
  return multiply_batches(at, multiply);
}

} // namespace troupe::ops
