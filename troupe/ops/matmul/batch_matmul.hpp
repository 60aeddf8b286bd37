// What the definitions of BatchMatMul and BatchMatMulV2 share.
#pragma once
#include "troupe/ops/define/matrices.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops {

/// For z = x * y: dx = dz * y', dy = x' * dz; where an operand was turned, so is its gradient.
/// Where
// it was broadcast, its gradients are summed.
inline edges batch_matmul_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto adj_x = at.attr<bool>("adj_x"), adj_y = at.attr<bool>("adj_y");
  auto dx = adj_x ? product(y, dz, adj_y, true) : product(dz, y, false, !adj_y);
  auto dy = adj_y ? product(dz, x, true, adj_x) : product(x, dz, !adj_x, false);
  return {unbroadcast(dx, x, dx), unbroadcast(dy, y, dy)};
}

inline result<shapes> infer_batch_matmul(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, infer_product(at.input(0), at.attr<bool>("adj_x"), at.input(1),
                                         at.attr<bool>("adj_y")));
  return shapes{dims};
}

inline double batch_matmul_flops(const node& of) {
  return product_flops(of.inputs()[0].dims(), of.attr<bool>("adj_x"), of.output_shape(0));
}

} // namespace troupe::ops
