// Parameters of any real type as doubles, so that kernels with few parameters need one type only.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe::ops {

/// A copy in f64. Takes real numbers.
result<tensor> as_doubles(const tensor& from, allocator& memory);

} // namespace troupe::ops
