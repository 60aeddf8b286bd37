// Argument checks of SparseTensorDenseMatMul, on all devices.
#pragma once
#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {

struct adjoints {
  bool a, b;
};

/// For kernel_def::prepare.
inline result<std::shared_ptr<void>> keep_adjoints(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<adjoints>(
      adjoints{setup.origin.attr<bool>("adjoint_a"), setup.origin.attr<bool>("adjoint_b")})};
}

/// The shape of the product.
inline result<shape> sparse_product(const shape& a, const shape& b, adjoints across) {
  if (a.rank() != 2 || b.rank() != 2)
    return invalid("both must be matrices, got shapes ", a, " and ", b);
  auto inner = a[across.a ? 0 : 1], inner_b = b[across.b ? 1 : 0];
  if (inner != inner_b)
    return invalid("the inner extents ", inner, " of a ", a, " and ", inner_b, " of b ", b,
                   " differ");
  return shape::make(std::array{a[across.a ? 1 : 0], b[across.b ? 0 : 1]});
}

} // namespace troupe::ops
