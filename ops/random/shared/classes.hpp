// The sampling of Multinomial, on all devices.
#pragma once
#include "troupe/ops/random/shared/distributions.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops {

/// The i-th sampled class. The row contains, for each class, the cumulative probability up to it,
/// up to a common factor.
constexpr int64_t drawn_class(const philox& numbers, uint64_t first, int64_t i, const double* row,
                              int64_t classes) {
  auto block = numbers(first + static_cast<uint64_t>(i / 2));
  auto bits = i % 2 == 0 ? joined(block[0], block[1]) : joined(block[2], block[3]);
  const double* end = row + classes;
  auto total = row[classes - 1];
  const double* chosen = std::upper_bound(row, end, even<double>(bits) * total);
  if (chosen == end) // the number was rounded up to the total
    chosen = std::lower_bound(row, end, total);
  return chosen - row;
}

/// The shape of the output.
inline result<shape> multinomial_dims(const kernel_context& at) {
  const auto &logits = at.input(0), &count = at.input(1);
  if (logits.rank() != 2 || count.rank() != 0)
    return invalid("logits must be a matrix and num_samples a scalar, got shapes ", logits.dims(),
                   " and ", count.dims());
  return shape::make(std::array{logits.dims()[0], int64_t{*count.data<int32_t>()}});
}

} // namespace troupe::ops
