// Shared by the kernels of convolutions on all devices.
#pragma once
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The operations that are fused into the writing of a convolution's output.
struct convolution_end {
  bool bias = false; ///< adds input 2, one number per channel
  bool rectify = false;
};

/// The settings of a node, read when it is prepared.
struct convolution_setup {
  convolution_form form;
  window_options options;
  convolution_end end = {};
};

result<convolution_setup> read_convolution(const kernel_setup& setup, convolution_form form);
/// The settings of a _FusedConv2D.
result<convolution_setup> read_fused_conv2d(const kernel_setup& setup);

/// The extents of one run, and the shape of its result.
struct convolution_task {
  convolution_shape geometry;
  shape result;
};

/// Fails where the inputs do not match.
result<convolution_task> task_of(kernel_context& at, const convolution_setup& state);

} // namespace troupe::ops
