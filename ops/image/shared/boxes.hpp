// Overlap of boxes, on all devices.
#pragma once
#include <algorithm>

namespace troupe::ops {

/// Two opposite corners, sorted.
struct box {
  /// Takes [y1, x1, y2, x2].
  constexpr explicit box(const float* corners)
      : top(std::min(corners[0], corners[2])), left(std::min(corners[1], corners[3])),
        bottom(std::max(corners[0], corners[2])), right(std::max(corners[1], corners[3])) {}
  constexpr float area() const { return (bottom - top) * (right - left); }
  float top, left, bottom, right;
};

/// The area of the intersection divided by the area of the union; 0 where a box has no area.
constexpr float overlap(const box& a, const box& b) {
  if (!(a.area() > 0 && b.area() > 0))
    return 0;
  auto height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f),
       width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  auto shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

} // namespace troupe::ops
