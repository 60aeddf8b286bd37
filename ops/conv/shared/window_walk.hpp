// Iterates over the windows of tensors whose channels come last. A pixel is the channels of one
// position; its number counts over all images.
#pragma once
#include "troupe/ops/define/windows.hpp"

#include <algorithm>

namespace troupe::ops {

/// The position of a pixel.
struct pixel_place {
  int64_t image, at[3];
};

inline pixel_place place_of(int64_t pixel, const window_axes& axes, int64_t window_axis::*extent) {
  pixel_place place{};
  for (int i = 2; i >= 0; --i) {
    auto size = axes[static_cast<size_t>(i)].*extent;
    place.at[i] = pixel % size;
    pixel /= size;
  }
  place.image = pixel;
  return place;
}

/// The number of elements of the output's window that lie on the input.
inline int64_t elements_in(const window_axes& axes, const pixel_place& out) {
  int64_t count = 1;
  for (size_t i = 0; i < 3; ++i)
    count *= std::max<int64_t>(0, axes[i].last_in(out.at[i]) - axes[i].first_in(out.at[i]));
  return count;
}

/// Calls `body(k, pixel)` for each element k of an output's window, with the pixel of the input.
template <class Body>
void for_each_element(const window_axes& axes, const pixel_place& out, Body&& body) {
  const auto& [depth, rows, columns] = axes;
  int64_t start[3];
  for (size_t i = 0; i < 3; ++i)
    start[i] = out.at[i] * axes[i].stride - axes[i].before;
  for (auto d = depth.first_in(out.at[0]); d < depth.last_in(out.at[0]); ++d)
    for (auto r = rows.first_in(out.at[1]); r < rows.last_in(out.at[1]); ++r) {
      auto from = ((out.image * depth.in + start[0] + d * depth.dilation) * rows.in + start[1] +
                   r * rows.dilation) *
                  columns.in;
      for (auto c = columns.first_in(out.at[2]); c < columns.last_in(out.at[2]); ++c)
        body((d * rows.size + r) * columns.size + c, from + start[2] + c * columns.dilation);
    }
}

/// Calls `body(k, pixel)` for each window in which the input pixel is element k, with the pixel of
/// the output.
template <class Body>
void for_each_window(const window_axes& axes, const pixel_place& in, Body&& body) {
  const auto& [depth, rows, columns] = axes;
  auto along = [&](size_t i, auto&& visit) { axes[i].for_each_window(in.at[i], visit); };
  along(0, [&](int64_t d, int64_t plane) {
    along(1, [&](int64_t r, int64_t row) {
      along(2, [&](int64_t c, int64_t column) {
        body((d * rows.size + r) * columns.size + c,
             ((in.image * depth.out + plane) * rows.out + row) * columns.out + column);
      });
    });
  });
}

} // namespace troupe::ops
