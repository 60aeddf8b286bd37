// Shared by the ops that compute a gradient from an output and the gradient with respect to it.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The inputs and the output have one shape.
inline result<shapes> infer_paired(const infer_context& at) {
  TROUPE_ASSIGN(auto joint, merge(at.input(0), at.input(1)));
  return shapes{std::move(joint)};
}

/// z = dy * f(y), or dy * f(conj(y)). The gradient for y is given; the gradient for dy applies the
/// op again.
inline edges paired_gradients(gradient_context& at, edge of_y) {
  return {of_y, build(std::string{at.source_node().op().name},
                      {conjugate(at.input(0)), at.output_gradient(0)})};
}

} // namespace troupe::ops
