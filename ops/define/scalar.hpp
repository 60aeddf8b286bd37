// Scalars of any real type, for kernels that use them as parameters.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe::ops {

/// The first element of a tensor of a real type as a double; 0 for other types.
double to_double(const tensor& scalar);

} // namespace troupe::ops
