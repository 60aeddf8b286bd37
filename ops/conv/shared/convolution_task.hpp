// What the kernels of convolutions on all devices share.
#pragma once
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// What is done to the output of a convolution as it is written.
struct convolution_end {
  bool bias = false; ///< adds input 2, a number for each channel
  bool rectify = false;
};

/// What a node is about.
struct convolution_setup {
  convolution_form form;
  window_options options;
  convolution_end end = {};
};

result<convolution_setup> read_convolution(const kernel_setup& setup, convolution_form form);
/// Of a _FusedConv2D.
result<convolution_setup> read_fused_conv2d(const kernel_setup& setup);

/// What a run is about: its extents, and the shape of what it computes.
struct convolution_task {
  convolution_shape of;
  shape result;
};

/// Fails where the inputs do not fit each other.
result<convolution_task> task_of(kernel_context& at, const convolution_setup& state);

} // namespace troupe::ops
