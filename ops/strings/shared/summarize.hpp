// Tensors in the middle of text, for people.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>

namespace troupe::ops {

/// The values in brackets as NumPy has them, of each axis the first and the last `ends` only; all
/// for a negative number.
std::string summarize(const tensor& what, int64_t ends);

} // namespace troupe::ops
