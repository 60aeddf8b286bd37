// Where a reduction finds its elements, on every device.
#pragma once
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct reduction_plan {
  strided_iterator reduced, kept; ///< the axes of each kind, with their distance in the input
  shape dims;                     ///< of the output
  int64_t items = 1;              ///< for each element of the output
  bool last_is_reduced = false;
};

/// Of input 0 over the axes in input 1.
result<reduction_plan> plan_reduction(const kernel_context& at, bool keep_dims);

} // namespace troupe::ops
