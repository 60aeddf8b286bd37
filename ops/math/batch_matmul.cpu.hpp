// What the kernels of BatchMatMul and BatchMatMulV2 share.
#pragma once
#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/math/matrix_product.hpp"

namespace troupe::ops {

struct adjoints {
  bool x, y;
};

inline result<std::shared_ptr<void>> prepare_batch_matmul(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<adjoints>(
      adjoints{setup.of.attr<bool>("adj_x"), setup.of.attr<bool>("adj_y")})};
}

inline status multiply_batches(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  if (x.rank() < 2 || y.rank() < 2)
    return invalid("takes batches of matrices, got shapes ", x.dims(), " and ", y.dims());
  const auto& adjoint = at.state<adjoints>();
  TROUPE_ASSIGN(auto plan,
                plan_product(x.dims(), {adjoint.x, adjoint.x}, y.dims(), {adjoint.y, adjoint.y}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  return multiply(at, plan.what, x, y, *out);
}

} // namespace troupe::ops
