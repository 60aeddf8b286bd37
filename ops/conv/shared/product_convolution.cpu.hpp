// The gradient of a convolution with regard to an input of few channels, as products of matrices:
// oneDNN computes as many channels as a vector register has lanes.
#pragma once
#include "troupe/ops/conv/shared/onednn_convolution.cpu.hpp"

namespace troupe::ops {

/// Whether that is faster, measured for an input of 3 channels.
bool has_few_inputs(const convolution_shape& of, convolution_role computes);

/// Computes data.input, one image after the other on each thread.
status input_gradient_by_products(kernel_context& at, const convolution_shape& of,
                                  convolution_data<float> data);

} // namespace troupe::ops
