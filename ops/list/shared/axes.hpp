// Shapes with further axes.
#pragma once
#include "troupe/runtime/types/shape.hpp"

namespace troupe::ops {

/// The shape with axes in front of it; nothing is known where its rank is not. Fails where there
/// would be too many.
result<partial_shape> with_axes(std::span<const int64_t> front, const partial_shape& of);

} // namespace troupe::ops
