// Shared by the kernels of Bincount and DenseBincount: the number of bins.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Rows of numbers, each with its own bins.
struct bincount_plan {
  int64_t rows = 1, columns = 0; ///< the shape of the numbers
  int64_t size = 0;              ///< bins per row
  shape dims = {};               ///< the shape of all bins
};

/// The numbers are input 0, of any shape, or, with `by_rows`, a vector or a matrix.
inline result<bincount_plan> plan_bincount(const kernel_context& at, std::string_view name,
                                           bool by_rows) {
  const auto &numbers = at.input(0), &sizes = at.input(1), &weights = at.input(2);
  if (sizes.elements() != 1)
    return invalid("size must be a scalar, got shape ", sizes.dims());
  if (weights.elements() > 0 && !(weights.dims() == numbers.dims()))
    return invalid("weights must be empty or have the shape of ", name, ", got ", weights.dims(),
                   " and ", numbers.dims());
  bincount_plan plan{.columns = numbers.elements(),
                     .size = sizes.type() == dtype::i64 ? *sizes.data<int64_t>()
                                                        : *sizes.data<int32_t>()};
  if (plan.size < 0)
    return invalid("size must not be negative, got ", plan.size);
  std::vector<int64_t> extents;
  if (by_rows && numbers.rank() != 1 && numbers.rank() != 2)
    return invalid(name, " must be a vector or a matrix, got shape ", numbers.dims());
  if (by_rows && numbers.rank() == 2) {
    plan.rows = numbers.dims()[0];
    plan.columns = numbers.dims()[1];
    extents.push_back(plan.rows);
  }
  extents.push_back(plan.size);
  TROUPE_ASSIGN(plan.dims, shape::make(extents));
  return plan;
}

} // namespace troupe::ops
