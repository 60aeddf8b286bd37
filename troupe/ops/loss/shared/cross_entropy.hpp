// What the two cross entropy ops share: their gradient with respect to the logits.
#pragma once
#include "troupe/ops/define/build.hpp"

namespace troupe::ops {

/// Multiplies each row of a matrix by the element of a vector.
inline edge scale_rows(edge factors, edge matrix) {
  auto column = build("ExpandDims", {factors, constant_like(factors, tensor::scalar(int32_t{-1}))});
  return column * matrix;
}

/// Output 1 holds d(loss)/d(logits) already. Where that output itself is differentiated (second
/// derivatives), the Hessian of the loss acts on its gradient g: (g - sum(g * p)) * p.
inline edge logits_gradient(gradient_context& at) {
  edge first, second;
  if (at.has_output_gradient(0))
    first = scale_rows(at.output_gradient(0), at.output(1));
  if (at.has_output_gradient(1)) {
    auto g = at.output_gradient(1), p = at.op("Softmax", {at.input(0)});
    second = (g - sum_last(g * p)) * p;
  }
  return first && second ? first + second : first ? first : second;
}

} // namespace troupe::ops
