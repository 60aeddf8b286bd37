// Which pixel of the source is the nearest.
#pragma once
#include "troupe/ops/image/shared/resize_geometry.hpp"

#include <vector>

namespace troupe::ops {

inline std::vector<int64_t> nearest_pixels(int64_t source, int64_t made,
                                           const resize_options& how) {
  std::vector<int64_t> nearest;
  auto scale = resize_scale(source, made, how.align_corners);
  for (int64_t i = 0; i < made; ++i) {
    nearest.push_back(nearest_pixel(i, source, scale, how));
  }
  return nearest;
}

} // namespace troupe::ops
