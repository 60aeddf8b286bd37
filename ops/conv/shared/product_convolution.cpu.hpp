// The gradient of a convolution with respect to an input of few channels, as matrix products.
// oneDNN computes as many channels as a vector register has lanes, of which most would be unused.
#pragma once
#include "troupe/ops/conv/shared/onednn_convolution.cpu.hpp"

namespace troupe::ops {

/// Whether this is faster than oneDNN, measured for an input of 3 channels.
bool has_few_inputs(const convolution_shape& geometry, convolution_role computes);

/// Computes data.input, one image at a time on each thread.
status input_gradient_by_products(kernel_context& at, const convolution_shape& geometry,
                                  convolution_data<float> data);

} // namespace troupe::ops
