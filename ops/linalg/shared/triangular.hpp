// Shared by the kernels of MatrixTriangularSolve.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Selects the triangle of the matrix that is read, and whether it is transposed and conjugated.
struct triangle {
  bool lower, adjoint;
};

inline result<std::shared_ptr<void>> prepare_triangle(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<triangle>(
      triangle{setup.origin.attr<bool>("lower"), setup.origin.attr<bool>("adjoint")})};
}

} // namespace troupe::ops
