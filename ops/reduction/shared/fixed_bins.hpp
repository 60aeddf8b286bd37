// Shared by the kernels of HistogramFixedWidth: the bin of a value.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops {

/// Bins of equal width. The first and the last bin include the values beyond the range.
class fixed_bins {
public:
  template <class T>
  constexpr fixed_bins(T low, T high, int64_t count)
      : low_(static_cast<double>(low)),
        width_((static_cast<double>(high) - low_) / static_cast<double>(count)), count_(count) {}

  /// -1 for NaN.
  template <class T>
  constexpr int64_t operator()(T x) const {
    auto bin = (std::max(static_cast<double>(x), low_) - low_) / width_;
    if (is_nan(x) || is_nan(bin))
      return -1;
    return static_cast<int64_t>(std::min(bin, static_cast<double>(count_ - 1)));
  }

private:
  double low_, width_;
  int64_t count_;
};

} // namespace troupe::ops
