// The product of a gradient and a number.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <source_location>

namespace troupe {

/// Multiplies a gradient by a scalar of any type, on the device of the gradient. A sparse gradient
/// (indexed_slices.hpp) stays sparse.
edge scaled_gradient(edge gradient, edge factor, std::source_location where);

} // namespace troupe
