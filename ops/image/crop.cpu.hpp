// Boxes in images: which pixels a crop's pixels lie between.
#pragma once
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/kernel.hpp"

#include <cmath>

namespace troupe::ops {

/// A place along one axis, between two pixels; outside of the image where `inside` is false.
struct crop_place {
  bool inside;
  int64_t below, above, nearest;
  float weight; ///< of `above`
};

/// A box along one axis, in relation to the image, and the pixels that its crop has there.
struct crop_axis {
  float low, high;
  int64_t size, pixels;

  /// How far neighbours of the crop are apart.
  float step() const {
    return pixels > 1 ? (high - low) * static_cast<float>(size - 1) / static_cast<float>(pixels - 1)
                      : 0;
  }
  crop_place at(int64_t i) const {
    auto last = static_cast<float>(size - 1);
    auto place =
        pixels > 1 ? low * last + static_cast<float>(i) * step() : 0.5f * (low + high) * last;
    if (!(place >= 0 && place <= last)) // nor NaN
      return {false, 0, 0, 0, 0};
    auto below = std::floor(place);
    return {true, static_cast<int64_t>(below), static_cast<int64_t>(std::ceil(place)),
            static_cast<int64_t>(std::round(place)), place - below};
  }
};

/// Boxes, the images that they lie in, and the crops.
struct crop_geometry {
  std::span<const float> boxes; ///< y1, x1, y2, x2 of each
  std::span<const int32_t> image_of;
  int64_t batch, height, width, channels, crop_height, crop_width;

  int64_t count() const { return static_cast<int64_t>(image_of.size()); }
  crop_axis rows(int64_t b) const { return axis(b, 0, height, crop_height); }
  crop_axis columns(int64_t b) const { return axis(b, 1, width, crop_width); }
  int64_t pixel(int64_t b, int64_t y, int64_t x) const {
    return ((image_of[static_cast<size_t>(b)] * height + y) * width + x) * channels;
  }

private:
  crop_axis axis(int64_t b, size_t first, int64_t size, int64_t pixels) const {
    auto at = static_cast<size_t>(b) * 4 + first;
    return {boxes[at], boxes[at + 2], size, pixels};
  }
};

/// Checks the boxes at that input, the images' numbers at the next, and the shapes of images and
/// crops, which must not be empty but for the boxes.
inline result<crop_geometry> crop_geometry_of(const kernel_context& at, int boxes,
                                              const shape& images, std::array<int64_t, 2> crop) {
  const auto &box = at.input(boxes), &image_of = at.input(boxes + 1);
  if (images.rank() != 4 || images[1] <= 0 || images[2] <= 0)
    return invalid("images must be [batch, height, width, channels] with pixels, got ", images);
  if (box.rank() != 2 || box.dims()[1] != 4 || image_of.rank() != 1 ||
      image_of.dims()[0] != box.dims()[0])
    return invalid("boxes must be [count, 4] and box_ind [count], got shapes ", box.dims(), " and ",
                   image_of.dims());
  if (crop[0] <= 0 || crop[1] <= 0)
    return invalid("crops must have pixels, got ", crop[0], 'x', crop[1]);
  for (auto image : image_of.values<int32_t>())
    if (image < 0 || image >= images[0])
      return invalid("box_ind has ", image, ", but there are ", images[0], " images");
  return crop_geometry{box.values<float>(),
                       image_of.values<int32_t>(),
                       images[0],
                       images[1],
                       images[2],
                       images[3],
                       crop[0],
                       crop[1]};
}

/// The crops' gradients at input 0 must fit the boxes.
inline status check_crop_gradients(const kernel_context& at, const crop_geometry& where) {
  const auto& dims = at.input(0).dims();
  if (dims[0] != where.count() || dims[3] != where.channels)
    return invalid("gradients must be [", where.count(), ", height, width, ", where.channels,
                   "], got ", dims);
  return {};
}

} // namespace troupe::ops
