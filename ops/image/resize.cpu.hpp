// Resizing as a filter for each axis: which pixels of the source make a pixel, and how much of
// each.
#pragma once
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/kernel.hpp"

#include <cmath>
#include <vector>

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
inline float resize_scale(int64_t source, int64_t made, bool align_corners) {
  return align_corners && made > 1 ? static_cast<float>(source - 1) / static_cast<float>(made - 1)
                                   : static_cast<float>(source) / static_cast<float>(made);
}

/// Where the center of pixel i lies in the source.
inline float source_position(int64_t i, float scale, bool half_pixel) {
  return half_pixel ? (static_cast<float>(i) + 0.5f) * scale - 0.5f : static_cast<float>(i) * scale;
}

/// For each pixel that is made along one axis, the pixels of the source and their weights.
class axis_filter {
public:
  void add(int64_t index, float weight) { taps_.push_back({index, weight}); }
  void end_pixel() { ends_.push_back(taps_.size()); }

  struct tap {
    int64_t index;
    float weight;
  };
  int64_t pixels() const { return static_cast<int64_t>(ends_.size()); }
  std::span<const tap> taps(int64_t pixel) const {
    auto first = pixel > 0 ? ends_[static_cast<size_t>(pixel) - 1] : 0;
    return std::span{taps_}.subspan(first, ends_[static_cast<size_t>(pixel)] - first);
  }

private:
  std::vector<tap> taps_;
  std::vector<size_t> ends_;
};

using make_filter = axis_filter (*)(int64_t source, int64_t made, const resize_options& how);

/// Two neighbours, by distance.
axis_filter linear_filter(int64_t source, int64_t made, const resize_options& how);
/// Four neighbours, by Keys' cubic.
axis_filter cubic_filter(int64_t source, int64_t made, const resize_options& how);

/// The height and width in input i.
result<std::array<int64_t, 2>> size_at(const kernel_context& at, int i);
/// Fails where the images have not four axes, and none of them empty but the batch.
status check_images(const shape& dims);

/// Resizes input 0, of any real type, to floats of the size in input 1.
status resize_images(kernel_context& at, const resize_options& how, make_filter filter);
/// What that sends back: input 0 to images like input 1.
status resize_gradient(kernel_context& at, const resize_options& how, make_filter filter);

/// For kernels whose state is resize_options.
template <make_filter Filter>
status resize_images(kernel_context& at) {
  return resize_images(at, at.state<resize_options>(), Filter);
}
template <make_filter Filter>
status resize_gradient(kernel_context& at) {
  return resize_gradient(at, at.state<resize_options>(), Filter);
}

} // namespace troupe::ops
