// The positions of a reduction's elements, on all devices.
#pragma once
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct reduction_plan {
  strided_iterator reduced, kept; ///< the axes of each kind, with their strides in the input
  shape dims;                     ///< the output's shape
  int64_t items = 1;              ///< input elements per output element
  bool last_is_reduced = false;
};

/// The plan for input 0 over the axes in input 1.
result<reduction_plan> plan_reduction(const kernel_context& at, bool keep_dims);

} // namespace troupe::ops
