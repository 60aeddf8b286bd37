// What the definitions of FusedBatchNorm share, of which there are three versions.
#pragma once
#include "troupe/ops/nn/windows.hpp"
#include "troupe/runtime/gradient.hpp"
#include "troupe/runtime/infer.hpp"

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

inline constexpr const char* batch_norm_gradient_doc =
    "Computes the gradients of FusedBatchNorm from what it was given and its reserve spaces.\n\n"
    "In training, mean and variance depended on x; otherwise they are taken for constants.";

} // namespace troupe::ops
