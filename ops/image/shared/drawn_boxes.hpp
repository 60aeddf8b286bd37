// Boxes drawn onto images, on all devices.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <array>

namespace troupe::ops {

using ink_color = std::array<float, 4>;
using ink_colors = std::array<ink_color, 10>;

/// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia, in TensorFlow's order.
inline constexpr ink_colors inks{{
    {1, 1, 0, 1},
    {0, 0, 1, 1},
    {1, 0, 0, 1},
    {0, 1, 0, 1},
    {0.5, 0, 0.5, 1},
    {0.5, 0.5, 0, 1},
    {0.5, 0, 0, 1},
    {0, 0, 0.5, 1},
    {0, 1, 1, 1},
    {1, 0, 1, 1},
}};

/// The corners of a box as pixels.
struct box_outline {
  int64_t top, left, bottom, right;
};

constexpr box_outline outline_of(const float* box, int64_t height, int64_t width) {
  auto pixel = [](float at, int64_t size) {
    auto place = at * static_cast<float>(size - 1);
    // Positions far away are clamped.
    auto clamped = place < -1e9f ? -1e9f : place > 1e9f ? 1e9f : place;
    return place != place ? int64_t{-1} : static_cast<int64_t>(clamped);
  };
  return {pixel(box[0], height), pixel(box[1], width), pixel(box[2], height), pixel(box[3], width)};
}

constexpr bool is_seen(const box_outline& outline, int64_t height, int64_t width) {
  return outline.top <= outline.bottom && outline.left <= outline.right && outline.top < height &&
         outline.bottom >= 0 && outline.left < width && outline.right >= 0;
}

inline status check_boxes_to_draw(const kernel_context& at) {
  const auto &dims = at.input(0).dims(), &listed = at.input(1).dims();
  if (dims.rank() != 4 || (dims[3] != 1 && dims[3] != 3 && dims[3] != 4))
    return invalid("images must be [batch, height, width, channels] with 1, 3 or 4 channels, got ",
                   dims);
  if (listed.rank() != 3 || listed[0] != dims[0] || listed[2] != 4)
    return invalid("boxes must be [", dims[0], ", count, 4], got ", listed);
  return {};
}

} // namespace troupe::ops
