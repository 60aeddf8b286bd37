// Gradients of ops that move elements: where each came from is found by moving numbers likewise.
#pragma once
#include "troupe/ops/define/build.hpp"

namespace troupe::ops {

/// The numbers of x's elements in row-major order, from `first` on, as an i64 tensor of its shape.
edge positions_of(edge x, int64_t first = 0);

/// Adds the elements of dy up at the positions in x that they came from, in x's shape. Negative
/// positions are nowhere.
edge summed_at(edge positions, edge dy, edge x);

} // namespace troupe::ops
