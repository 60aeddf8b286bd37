// Which pixel of the source is the nearest.
#pragma once
#include "troupe/ops/image/resize.cpu.hpp"

#include <algorithm>

namespace troupe::ops {

inline std::vector<int64_t> nearest_pixels(int64_t source, int64_t made,
                                           const resize_options& how) {
  std::vector<int64_t> nearest;
  auto scale = resize_scale(source, made, how.align_corners);
  for (int64_t i = 0; i < made; ++i) {
    auto position =
        how.half_pixel ? (static_cast<float>(i) + 0.5f) * scale : static_cast<float>(i) * scale;
    auto index = how.align_corners ? std::round(position) : std::floor(position);
    nearest.push_back(std::clamp<int64_t>(static_cast<int64_t>(index), 0, source - 1));
  }
  return nearest;
}

} // namespace troupe::ops
