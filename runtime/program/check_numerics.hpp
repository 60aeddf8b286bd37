// Finds NaNs and infinities in tensors.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// Summarizes a tensor of floating or complex numbers. A complex number counts as NaN or infinite
/// if one of its parts is, and otherwise by its magnitude.
struct value_summary {
  dtype type = dtype::none;
  shape dims;
  int64_t nans = 0, infinities = 0;
  int64_t first_index = -1;        ///< the first element that is not finite, in row-major order
  double minimum = 0, maximum = 0; ///< minimum and maximum of the finite elements

  bool finite() const noexcept { return nans + infinities == 0; }
};

/// Returns whether a tensor has no NaN and no infinity; true for types without these. The CPU must
/// be able to read the memory.
bool all_finite(const tensor& value) noexcept;

/// Takes one pass over all elements. For types without NaN and infinity, sets only type and shape.
value_summary summarize(const tensor& value) noexcept;

/// Formats a summary: "f32[2,3]: 2 of 6 values are not finite (1 NaN, 1 infinite), the first at
/// [0,2]; the others from -1 to 3", or "f32[2,3]: finite, from -1 to 3".
std::string describe(const value_summary& summary);

} // namespace troupe
