// Resizing as a filter for each axis: which pixels of the source make a pixel, and how much of
// each.
#pragma once
#include "troupe/ops/image/shared/resize_filters.hpp"

#include <vector>

namespace troupe::ops {

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

/// All taps of linear_taps and its like.
template <class Taps>
axis_filter filter_of(int64_t source, int64_t made, const resize_options& how) {
  axis_filter filter;
  Taps taps{source, made, how};
  for (int64_t i = 0; i < made; ++i) {
    taps(i, [&](int64_t index, float weight) { filter.add(index, weight); });
    filter.end_pixel();
  }
  return filter;
}

/// Resizes input 0, of any real type, to floats of the size in input 1.
status resize_images(kernel_context& at, const resize_options& how, make_filter filter);
/// What that sends back: input 0 to images like input 1.
status resize_gradient(kernel_context& at, const resize_options& how, make_filter filter);

/// For kernels whose state is resize_options.
template <class Taps>
status resize_images(kernel_context& at) {
  return resize_images(at, at.state<resize_options>(), filter_of<Taps>);
}
template <class Taps>
status resize_gradient(kernel_context& at) {
  return resize_gradient(at, at.state<resize_options>(), filter_of<Taps>);
}

} // namespace troupe::ops
