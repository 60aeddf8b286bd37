// Which pixels of the source make a pixel of a resized image, on every device.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::ops {

/// Where the pixels of one image lie in another of another size.
struct resize_options {
  bool align_corners = false; ///< the centers of the corners' pixels stay
  bool half_pixel = false;    ///< a pixel's center is half a pixel away from its corner
};

inline result<std::shared_ptr<void>> keep_resize_options(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<resize_options>(resize_options{
      setup.of.attr<bool>("align_corners"), setup.of.attr<bool>("half_pixel_centers")})};
}

/// How many pixels of the source one pixel stands for.
constexpr float resize_scale(int64_t source, int64_t made, bool align_corners) {
  return align_corners && made > 1 ? static_cast<float>(source - 1) / static_cast<float>(made - 1)
                                   : static_cast<float>(source) / static_cast<float>(made);
}

/// Where the center of pixel i lies in the source.
constexpr float source_position(int64_t i, float scale, bool half_pixel) {
  return half_pixel ? (static_cast<float>(i) + 0.5f) * scale - 0.5f : static_cast<float>(i) * scale;
}

/// The two pixels of the source around pixel i, and how much of the second there is in it.
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

/// The pixel of the source that is nearest to pixel i.
constexpr int64_t nearest_pixel(int64_t i, int64_t source, float scale, const resize_options& how) {
  auto position =
      how.half_pixel ? (static_cast<float>(i) + 0.5f) * scale : static_cast<float>(i) * scale;
  auto index = how.align_corners ? std::round(position) : std::floor(position);
  return std::clamp<int64_t>(static_cast<int64_t>(index), 0, source - 1);
}

/// The height and width in input i.
result<std::array<int64_t, 2>> size_at(const kernel_context& at, int i);
/// Fails where the images have not four axes, and none of them empty but the batch.
status check_images(const shape& dims);
/// The shape of the images in input 0 with the size that input 1 lists, after these checks.
result<shape> resized_shape(const kernel_context& at);
/// The same of gradients and the original images, which must go together.
status check_resized(const shape& gradients, const shape& images);

} // namespace troupe::ops
