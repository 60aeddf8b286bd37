// Shared by the definitions of Sum, Mean, Prod, Max and Min.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Output 0 has the shape of input 0 without the axes that input 1 lists.
result<shapes> infer_reduction(const infer_context& at);

/// A reduction over no axes is replaced by its input.
edge simplify_reduction(simplify_context& at);

/// A reduction's output, or its gradient, with extent 1 on the reduced axes, so that it broadcasts
/// against the input.
edge with_reduced_axes(gradient_context& at, edge reduced);

/// The same, broadcast to the input's shape.
edge spread_over_input(gradient_context& at, edge reduced);

/// The gradient of Max and Min: elements equal to the result share it.
edges reduced_extreme_gradient(gradient_context& at);

} // namespace troupe::ops
