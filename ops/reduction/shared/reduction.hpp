// What the definitions of Sum, Mean, Prod, Max and Min share.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Output 0 is input 0 without the axes that input 1 lists.
result<shapes> infer_reduction(const infer_context& at);

/// Without axes to reduce there is nothing to do.
edge simplify_reduction(simplify_context& at);

/// A reduction's output, or its gradient, with extent 1 on the axes that were reduced, so that it
/// broadcasts against the input.
edge with_reduced_axes(gradient_context& at, edge reduced);

/// The same, broadcast to the input's shape.
edge spread_over_input(gradient_context& at, edge reduced);

/// The gradient of Max and Min: elements that are equal to the result share it.
edges reduced_extreme_gradient(gradient_context& at);

} // namespace troupe::ops
