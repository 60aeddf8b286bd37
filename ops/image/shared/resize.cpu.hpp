// Resizing as a filter per axis: the source pixels that contribute to an output pixel, and their
// weights.
#pragma once
#include "troupe/ops/image/shared/resize_filters.hpp"

#include <vector>

namespace troupe::ops {

/// For each output pixel along one axis, the pixels of the source and their weights.
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

using make_filter = axis_filter (*)(int64_t source, int64_t target, const resize_options& options);

/// All taps of linear_taps and similar filters.
template <class Taps>
axis_filter filter_of(int64_t source, int64_t target, const resize_options& options) {
  axis_filter filter;
  Taps taps{source, target, options};
  for (int64_t i = 0; i < target; ++i) {
    taps(i, [&](int64_t index, float weight) { filter.add(index, weight); });
    filter.end_pixel();
  }
  return filter;
}

/// Resizes input 0, of any real type, to floats of the size in input 1.
status resize_images(kernel_context& at, const resize_options& options, make_filter filter);
/// The gradient of resize_images: input 0 to images like input 1.
status resize_gradient(kernel_context& at, const resize_options& options, make_filter filter);

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
