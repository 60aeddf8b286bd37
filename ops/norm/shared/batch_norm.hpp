// Shared by the definitions of the three versions of FusedBatchNorm.
#pragma once
#include "troupe/ops/define/windows.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Output 0 has the shape of input 0; the next four have one element per channel.
result<shapes> infer_batch_norm(const infer_context& at);
/// Inputs 0 and 1 and output 0 have the shape of the normalized tensor, outputs 1 and 2 have one
/// element per channel, the other outputs are empty.
result<shapes> infer_batch_norm_gradient(const infer_context& at);

/// The gradient in terms of that op.
edges batch_norm_gradient(gradient_context& at, std::string op);
/// The gradient of the gradient, built of simpler ops from the formula.
edges batch_norm_second_gradient(gradient_context& at);

inline constexpr const char* batch_norm_doc =
    "Normalizes each channel to mean 0 and variance 1, then scales it and adds an offset.\n\n"
    "In training, mean and variance are the batch's, over all but the channels; batch_mean and "
    "batch_variance (the unbiased one) are for running averages: (1 - exponential_avg_factor) * "
    "mean + exponential_avg_factor * the batch's. Otherwise the inputs mean and variance are used. "
    "The reserve spaces are what the gradient wants to know: mean and variance that were used.";

/// Completes the definition of a version: with the type attribute of scale, offset and statistics,
/// and this number of reserve spaces.
constexpr op_def batch_norm(op_def def, const char* statistics, int reserve_spaces) {
  def.inputs = {{"x", "T"},
                {"scale", statistics},
                {"offset", statistics},
                {"mean", statistics},
                {"variance", statistics}};
  port y{"y", "T"}, mean{"batch_mean", statistics}, variance{"batch_variance", statistics};
  port first_space{"reserve_space_1", statistics}, second_space{"reserve_space_2", statistics};
  port three{"reserve_space_3", statistics};
  def.outputs = reserve_spaces == 2
                    ? port_list{y, mean, variance, first_space, second_space}
                    : port_list{y, mean, variance, first_space, second_space, three};
  def.infer = infer_batch_norm;
  return def;
}

inline constexpr const char* batch_norm_gradient_doc =
    "Computes the gradients of FusedBatchNorm from what it was given and its reserve spaces.\n\n"
    "In training, mean and variance depended on x; otherwise they are taken for constants.";

/// Completes the definition of a version's gradient: with the types of scale and of the statistics,
/// and this number of reserve spaces.
constexpr op_def batch_norm_gradient_form(op_def def, const char* scale, const char* statistics,
                                          int reserve_spaces) {
  port dy{"y_backprop", "T"}, x{"x", "T"}, scales{"scale", scale};
  port first_space{"reserve_space_1", statistics}, second_space{"reserve_space_2", statistics};
  port three{"reserve_space_3", statistics}, four{"reserve_space_4", statistics};
  port dx{"x_backprop", "T"}, dscale{"scale_backprop", statistics};
  port doffset{"offset_backprop", statistics};
  auto two_spaces = reserve_spaces == 2;
  def.inputs = two_spaces ? port_list{dy, x, scales, first_space, second_space}
                          : port_list{dy, x, scales, first_space, second_space, three};
  // Two more outputs, without elements.
  def.outputs = two_spaces ? port_list{dx, dscale, doffset, three, four}
                           : port_list{dx, dscale, doffset, four, {"reserve_space_5", statistics}};
  def.infer = infer_batch_norm_gradient;
  def.gradient = batch_norm_second_gradient;
  return def;
}

} // namespace troupe::ops
