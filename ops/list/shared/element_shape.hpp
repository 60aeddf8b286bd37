// Shapes of items, as ops on lists take them.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// What input i, an `element_shape`, says when the graph is built: a vector that may have -1, or
/// the scalar -1, which says nothing.
result<partial_shape> listed_element_shape(const infer_context& at, int i);

/// The shape of an item as such an input: a Const where it is known.
edge element_shape_of(edge item);

} // namespace troupe::ops
