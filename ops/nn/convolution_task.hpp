// What the kernels of convolutions on all devices share.
#pragma once
#include "troupe/ops/nn/convolution.hpp"
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {

/// What a node is about.
struct convolution_setup {
  convolution_form form;
  window_options options;
};

result<convolution_setup> read_convolution(const kernel_setup& setup, convolution_form form);

/// What a run is about: its extents, and the shape of what it computes.
struct convolution_task {
  convolution_shape of;
  shape result;
};

/// Fails where the inputs do not fit each other.
result<convolution_task> task_of(kernel_context& at, const convolution_setup& state);

} // namespace troupe::ops
