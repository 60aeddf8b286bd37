// Boxes in images: the image pixels around each pixel of a crop, on all devices.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <cmath>

namespace troupe::ops {

/// A position along one axis, between two pixels; outside of the image where `inside` is false.
struct crop_place {
  bool inside;
  int64_t below, above, nearest;
  float weight; ///< the weight of `above`
};

/// A box along one axis, relative to the image, and the pixels that its crop has along that axis.
struct crop_axis {
  float low, high;
  int64_t size, pixels;

  /// The distance of adjacent pixels of the crop.
  constexpr float step() const {
    return pixels > 1 ? (high - low) * static_cast<float>(size - 1) / static_cast<float>(pixels - 1)
                      : 0;
  }
  constexpr crop_place at(int64_t i) const {
    auto last = static_cast<float>(size - 1);
    auto place =
        pixels > 1 ? low * last + static_cast<float>(i) * step() : 0.5f * (low + high) * last;
    if (!(place >= 0 && place <= last)) // also rejects NaN
      return {false, 0, 0, 0, 0};
    auto below = std::floor(place);
    return {true, static_cast<int64_t>(below), static_cast<int64_t>(std::ceil(place)),
            static_cast<int64_t>(std::round(place)), place - below};
  }
};

/// The weight of an image pixel at a position.
constexpr float share_of(const crop_place& place, int64_t pixel, bool nearest) {
  if (nearest)
    return place.nearest == pixel ? 1.0f : 0.0f;
  return (place.below == pixel ? 1 - place.weight : 0.0f) +
         (place.above == pixel ? place.weight : 0.0f);
}

/// How the positions along an axis move with the two ends of the box, times the gradient.
struct box_sums {
  double low = 0, high = 0;
  constexpr void add(const crop_axis& along, int64_t i, double gradient) {
    auto last = static_cast<double>(along.size - 1);
    auto ratio =
        along.pixels > 1 ? static_cast<double>(i) / static_cast<double>(along.pixels - 1) : 0.5;
    low += gradient * last * (1 - ratio);
    high += gradient * last * ratio;
  }
};

/// Boxes, the images that contain them, and the crops.
struct crop_geometry {
  const float* boxes; ///< y1, x1, y2, x2 per box
  const int32_t* image_of;
  int64_t count, batch, height, width, channels, crop_height, crop_width;

  constexpr crop_axis rows(int64_t b) const { return axis(b, 0, height, crop_height); }
  constexpr crop_axis columns(int64_t b) const { return axis(b, 1, width, crop_width); }
  constexpr int64_t pixel(int64_t b, int64_t y, int64_t x) const {
    return ((image_of[b] * height + y) * width + x) * channels;
  }

private:
  constexpr crop_axis axis(int64_t b, int64_t first, int64_t size, int64_t pixels) const {
    return {boxes[b * 4 + first], boxes[b * 4 + first + 2], size, pixels};
  }
};

/// Checks the shapes of the boxes at that input, of the image indices at the next, and of images
/// and crops, which must not be empty except for the number of boxes.
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
  return crop_geometry{box.data<float>(),
                       image_of.data<int32_t>(),
                       box.dims()[0],
                       images[0],
                       images[1],
                       images[2],
                       images[3],
                       crop[0],
                       crop[1]};
}

/// Checks the image indices where the host can read them.
inline status check_image_numbers(const crop_geometry& where) {
  for (int64_t b = 0; b < where.count; ++b)
    if (auto image = where.image_of[b]; image < 0 || image >= where.batch)
      return invalid("box_ind has ", image, ", but there are ", where.batch, " images");
  return {};
}

/// The crops' gradients at input 0 must match the boxes.
inline status check_crop_gradients(const kernel_context& at, const crop_geometry& where) {
  const auto& dims = at.input(0).dims();
  if (dims[0] != where.count || dims[3] != where.channels)
    return invalid("gradients must be [", where.count, ", height, width, ", where.channels,
                   "], got ", dims);
  return {};
}

/// The extents of the images, an input of CropAndResizeGradImage and the shape of its gradients.
inline result<shape> cropped_dims(const kernel_context& at) {
  const auto &grads = at.input(0).dims(), &size = at.input(3).dims();
  if (grads.rank() != 4 || size.rank() != 1 || size[0] != 4)
    return invalid("grads must have 4 axes, and image_size list 4 extents, got shapes ", grads,
                   " and ", size);
  return shape::make(to_integers(at.input(3)));
}

/// The attributes that CropAndResize's kernels keep.
struct crop_settings {
  bool nearest;
  float outside;
};

inline result<std::shared_ptr<void>> keep_crop_settings(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<crop_settings>(
      crop_settings{setup.origin.attr<std::string>("method") == "nearest",
                    static_cast<float>(setup.origin.attr<double>("extrapolation_value"))})};
}

/// A crop's pixel, interpolated from the four pixels around it.
constexpr float mixed(float a, float b, float weight) { return a + (b - a) * weight; }

} // namespace troupe::ops
