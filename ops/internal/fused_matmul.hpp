// Shared by the kernels of _FusedMatMul.
#pragma once
#include "troupe/ops/matmul/shared/batch_matmul_kernels.hpp"

namespace troupe::ops {

struct fused_matmul : adjoints {
  bool broadcasts, rectify;
};

inline result<std::shared_ptr<void>> prepare_fused_matmul(const kernel_setup& setup) {
  auto flag = [&](std::string_view name) { return setup.origin.attr<bool>(name); };
  return std::shared_ptr<void>{std::make_shared<fused_matmul>(fused_matmul{
      {flag("transpose_a"), flag("transpose_b")}, flag("broadcasts"), flag("rectify")})};
}

/// `multiply` is the device's product, and also adds input 2.
inline status multiply_and_add(kernel_context& at, product_function* multiply) {
  const auto &a = at.input(0), &b = at.input(1), &bias = at.input(2);
  if (a.rank() < 2 || b.rank() < 2 || bias.rank() != 1)
    return invalid("takes matrices and a vector, got shapes ", a.dims(), ", ", b.dims(), " and ",
                   bias.dims());
  const auto& settings = at.state<fused_matmul>();
  if (!settings.broadcasts)
    TROUPE_TRY(check_pairs(a.dims(), b.dims()));
  TROUPE_ASSIGN(auto plan, plan_product(a.dims(), {settings.x}, b.dims(), {settings.y}));
  if (bias.dims()[0] != plan.what.n)
    return invalid("a product of shape ", plan.dims, " takes ", plan.what.n, " numbers, got ",
                   bias.dims()[0]);
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  return multiply(at, plan.what, a, b, *out);
}

} // namespace troupe::ops
