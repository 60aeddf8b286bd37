// Resized images on GPUs: a thread for each element.
#pragma once
#include "troupe/ops/image/resize_geometry.hpp"
#include "troupe/ops/launch.cuda.hpp"

namespace troupe::ops::gpu {
#ifdef __CUDACC__
inline namespace on_cuda {
#else
inline namespace simulated {
#endif

/// An axis of images, and of what is made of them.
struct resized_axis {
  int64_t source, made;
  float scale;
  resize_options how;

  resized_axis(int64_t from, int64_t to, const resize_options& options)
      : source(from), made(to), scale(resize_scale(from, to, options.align_corners)), how(options) {
  }

  TROUPE_DEVICE two_pixels neighbours(int64_t i) const {
    return neighbours_of(i, source, scale, how.half_pixel);
  }
  TROUPE_DEVICE int64_t nearest(int64_t i) const { return nearest_pixel(i, source, scale, how); }

  /// Beyond these, no pixel is made of that one of the source: [first, last).
  TROUPE_DEVICE int64_t first_of(int64_t pixel) const {
    if (!(scale > 0))
      return 0;
    auto about = static_cast<int64_t>(static_cast<float>(pixel - 1) / scale) - 2;
    return pixel == 0 || about < 0 ? 0 : about;
  }
  TROUPE_DEVICE int64_t last_of(int64_t pixel) const {
    if (!(scale > 0))
      return made;
    auto about = static_cast<int64_t>(static_cast<float>(pixel + 2) / scale) + 2;
    return pixel == source - 1 || about > made ? made : about;
  }
};

/// Where an element of images [batch, rows, columns, channels] is.
struct image_place {
  int64_t image, row, column, channel;
};
TROUPE_DEVICE inline image_place place_in(int64_t i, int64_t rows, int64_t columns,
                                          int64_t channels) {
  if (i <= UINT32_MAX) { // as all others of small tensors; a division costs a quarter
    auto rest = static_cast<uint32_t>(i);
    auto take = [&](int64_t extent) {
      auto left = rest / static_cast<uint32_t>(extent);
      auto at = rest - left * static_cast<uint32_t>(extent);
      rest = left;
      return at;
    };
    auto channel = take(channels), column = take(columns), row = take(rows);
    return {rest, row, column, channel};
  }
  auto channel = i % channels;
  i /= channels;
  auto column = i % columns;
  i /= columns;
  return {i / rows, i % rows, column, channel};
}

} // namespace on_cuda or simulated
} // namespace troupe::ops::gpu
