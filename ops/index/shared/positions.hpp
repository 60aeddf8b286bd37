// Gradients of ops that move elements: the op applied to element numbers shows each element's
// source.
#pragma once
#include "troupe/ops/define/build.hpp"

namespace troupe::ops {

/// The row-major numbers of x's elements, starting at `first`, as an i64 tensor of x's shape.
edge positions_of(edge x, int64_t first = 0);

/// Sums the elements of dy at their source positions in x, in x's shape. Negative positions are
/// dropped.
edge summed_at(edge positions, edge dy, edge x);

} // namespace troupe::ops
