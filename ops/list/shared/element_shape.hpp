// Shapes of items as inputs of ops on lists.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The value of input i, an `element_shape`, as far as it is known when the graph is built: a
/// vector that may contain -1, or the scalar -1 for an unknown shape.
result<partial_shape> listed_element_shape(const infer_context& at, int i);

/// The shape of an item as such an input: a Const where it is known.
edge element_shape_of(edge item);

} // namespace troupe::ops
