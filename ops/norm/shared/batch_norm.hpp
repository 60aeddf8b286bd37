// What the definitions of FusedBatchNorm share, of which there are three versions.
#pragma once
#include "troupe/ops/define/windows.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Output 0 is as input 0, the next four have an element for each channel.
result<shapes> infer_batch_norm(const infer_context& at);
/// Inputs 0 and 1 and output 0 are as what was normalized, outputs 1 and 2 have an element for each
/// channel, all others none.
result<shapes> infer_batch_norm_gradient(const infer_context& at);

/// The gradient in terms of that op.
edges batch_norm_gradient(gradient_context& at, std::string op);
/// The gradient of the gradient: that of the formula, built of simpler ops.
edges batch_norm_second_gradient(gradient_context& at);

inline constexpr const char* batch_norm_doc =
    "Normalizes each channel to mean 0 and variance 1, then scales it and adds an offset.\n\n"
    "In training, mean and variance are the batch's, over all but the channels; batch_mean and "
    "batch_variance (the unbiased one) are for running averages: (1 - exponential_avg_factor) * "
    "mean + exponential_avg_factor * the batch's. Otherwise the inputs mean and variance are used. "
    "The reserve spaces are what the gradient wants to know: mean and variance that were used.";

/// Completes the definition of a version: with the type attribute of scale, offset and statistics,
/// and so many reserve spaces.
constexpr op_def batch_norm(op_def own, const char* statistics, int reserve_spaces) {
  own.inputs = {{"x", "T"},
                {"scale", statistics},
                {"offset", statistics},
                {"mean", statistics},
                {"variance", statistics}};
  port y{"y", "T"}, mean{"batch_mean", statistics}, variance{"batch_variance", statistics};
  port one{"reserve_space_1", statistics}, two{"reserve_space_2", statistics};
  port three{"reserve_space_3", statistics};
  own.outputs = reserve_spaces == 2 ? port_list{y, mean, variance, one, two}
                                    : port_list{y, mean, variance, one, two, three};
  own.infer = infer_batch_norm;
  return own;
}

inline constexpr const char* batch_norm_gradient_doc =
    "Computes the gradients of FusedBatchNorm from what it was given and its reserve spaces.\n\n"
    "In training, mean and variance depended on x; otherwise they are taken for constants.";

/// Completes the definition of a version's gradient: with the types of scale and of the statistics,
/// and so many reserve spaces.
constexpr op_def batch_norm_gradient_form(op_def own, const char* scale, const char* statistics,
                                          int reserve_spaces) {
  port dy{"y_backprop", "T"}, x{"x", "T"}, scales{"scale", scale};
  port one{"reserve_space_1", statistics}, two{"reserve_space_2", statistics};
  port three{"reserve_space_3", statistics}, four{"reserve_space_4", statistics};
  port dx{"x_backprop", "T"}, dscale{"scale_backprop", statistics};
  port doffset{"offset_backprop", statistics};
  auto two_spaces = reserve_spaces == 2;
  own.inputs =
      two_spaces ? port_list{dy, x, scales, one, two} : port_list{dy, x, scales, one, two, three};
  // Two more, without elements.
  own.outputs = two_spaces ? port_list{dx, dscale, doffset, three, four}
                           : port_list{dx, dscale, doffset, four, {"reserve_space_5", statistics}};
  own.infer = infer_batch_norm_gradient;
  own.gradient = batch_norm_second_gradient;
  return own;
}

} // namespace troupe::ops
