// Shapes with additional leading axes.
#pragma once
#include "troupe/runtime/types/shape.hpp"

namespace troupe::ops {

/// The shape with leading axes added; unknown if its rank is unknown. Fails for too many axes.
result<partial_shape> with_axes(std::span<const int64_t> front, const partial_shape& dims);

} // namespace troupe::ops
