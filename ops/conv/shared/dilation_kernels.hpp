// Shared by the kernels of morphological dilations on all devices.
#pragma once
#include "troupe/ops/conv/shared/dilation.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline result<std::shared_ptr<void>> prepare_dilation(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto options, read_dilation(setup.origin));
  return std::shared_ptr<void>{std::make_shared<window_options>(std::move(options))};
}

/// A dilation of known extents.
struct dilation {
  int64_t images = 0, channels = 0;
  window_axes axes{};
  shape output;

  int64_t pixels() const { return axes[1].out * axes[2].out; } ///< per output image
  /// In nanoseconds per window.
  double cost() const { return static_cast<double>(axes[1].size * axes[2].size); }
};

inline result<dilation> make_dilation(const kernel_context& at) {
  const auto &input = at.input(0).dims(), &filter = at.input(1).dims();
  if (input.rank() != 4 || filter.rank() != 3 || input[3] != filter[2])
    return invalid("input must be [images, rows, columns, channels] and filter "
                   "[rows, columns, channels], got shapes ",
                   input, " and ", filter);
  const auto& options = at.state<window_options>();
  dilation geometry;
  geometry.images = input[0];
  geometry.channels = input[3];
  TROUPE_ASSIGN(geometry.axes, options.place(input, {filter[0], filter[1]}));
  TROUPE_ASSIGN(geometry.output, options.tensor_shape(geometry.images, geometry.channels,
                                                      geometry.axes, &window_axis::out));
  return geometry;
}

inline status expect_output(const dilation& geometry, const shape& gradient_shape) {
  if (gradient_shape == geometry.output)
    return {};
  return invalid("out_backprop must have the output's shape ", geometry.output, ", got ",
                 gradient_shape);
}

} // namespace troupe::ops
