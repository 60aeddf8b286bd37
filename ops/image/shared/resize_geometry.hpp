// Pixel positions of a resized image in its source, on all devices.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::ops {

/// The mapping between pixel positions of the two images.
struct resize_options {
  bool align_corners = false; ///< the centers of the corner pixels are aligned
  bool half_pixel = false;    ///< a pixel's center is half a pixel from its corner
};

inline result<std::shared_ptr<void>> keep_resize_options(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<resize_options>(resize_options{
      setup.origin.attr<bool>("align_corners"), setup.origin.attr<bool>("half_pixel_centers")})};
}

/// The number of source pixels per output pixel.
constexpr float resize_scale(int64_t source, int64_t target, bool align_corners) {
  return align_corners && target > 1
             ? static_cast<float>(source - 1) / static_cast<float>(target - 1)
             : static_cast<float>(source) / static_cast<float>(target);
}

/// The position of the center of output pixel i in the source.
constexpr float source_position(int64_t i, float scale, bool half_pixel) {
  return half_pixel ? (static_cast<float>(i) + 0.5f) * scale - 0.5f : static_cast<float>(i) * scale;
}

/// The two source pixels around output pixel i, and the weight of the second.
struct two_pixels {
  int64_t below, above;
  float weight;
};
constexpr two_pixels neighbours_of(int64_t i, int64_t source, float scale, bool half_pixel) {
  auto position = source_position(i, scale, half_pixel);
  auto below = std::floor(position);
  auto index = static_cast<int64_t>(below);
  return {std::clamp<int64_t>(index, 0, source - 1), std::clamp<int64_t>(index + 1, 0, source - 1),
          position - below};
}

/// The source pixel nearest to output pixel i.
constexpr int64_t nearest_pixel(int64_t i, int64_t source, float scale,
                                const resize_options& options) {
  auto position =
      options.half_pixel ? (static_cast<float>(i) + 0.5f) * scale : static_cast<float>(i) * scale;
  auto index = options.align_corners ? std::round(position) : std::floor(position);
  return std::clamp<int64_t>(static_cast<int64_t>(index), 0, source - 1);
}

/// The height and width in input i.
result<std::array<int64_t, 2>> size_at(const kernel_context& at, int i);
/// Fails unless the images have four axes, of which only the batch may be empty.
status check_images(const shape& dims);
/// The checked shape of the images in input 0 with the size that input 1 lists.
result<shape> resized_shape(const kernel_context& at);
/// The same for gradients and the original images, which must match.
status check_resized(const shape& gradients, const shape& images);

} // namespace troupe::ops
