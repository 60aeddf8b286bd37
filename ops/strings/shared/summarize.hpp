// Tensors as readable text.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>

namespace troupe::ops {

/// The values in brackets as in NumPy, of each axis only the first and the last `ends`; all for a
/// negative number.
std::string summarize(const tensor& source, int64_t ends);

} // namespace troupe::ops
