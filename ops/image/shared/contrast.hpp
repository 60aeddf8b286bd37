// The checks of AdjustContrastv2's kernels, on all devices.
#pragma once
#include "troupe/ops/image/shared/color_arithmetic.hpp"

namespace troupe::ops {

inline status check_contrast(const shape& images) {
  if (images.rank() >= 3)
    return {};
  return invalid("images must be [..., height, width, channels], got ", images);
}

} // namespace troupe::ops
