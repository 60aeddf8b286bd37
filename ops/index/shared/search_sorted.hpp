// Shared by the definitions of LowerBound and UpperBound.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <limits>

namespace troupe::ops {

/// One sorted row for each row of values.
inline result<shapes> infer_bounds(const infer_context& at) {
  TROUPE_ASSIGN(auto sorted, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto values, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto rows, merge(partial_shape{sorted[0]}, {values[0]}));
  return shapes{{rows[0], values[1]}};
}

/// The same for a kernel.
inline status check_bounds(const kernel_context& at) {
  const auto &sorted = at.input(0).dims(), &values = at.input(1).dims();
  if (sorted.rank() != 2 || values.rank() != 2 || sorted[0] != values[0])
    return invalid("sorted_inputs and values must be matrices with as many rows, got ", sorted,
                   " and ", values);
  if (at.output_type(0) == dtype::i32 && sorted[1] > std::numeric_limits<int32_t>::max())
    return invalid("sorted_inputs has more places than an i32 can name");
  return {};
}

} // namespace troupe::ops
