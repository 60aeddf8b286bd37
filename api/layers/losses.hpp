// Losses: measures of the difference between predictions and goals. Those that end in `_loss` or
// `_error` return one scalar, the mean over all elements. With weights, this is the sum of the
// weighted elements divided by the number of those whose weight is not 0 (0 if all weights are 0).
// Labels, weights and other goals have the type of the predictions, or are integers (i32, i64 and
// the like) or booleans, which are converted.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <optional>

namespace troupe {

struct loss_options {
  std::optional<operand> weights = {}; ///< of each element, or of each row; broadcast
};

/// The mean that the losses use; for custom losses.
TROUPE_API edge weighted_mean(edge values, const loss_options& options = {},
                              std::source_location where = std::source_location::current());

/// -log(probability of the correct class) for each row: logits [..., classes], labels [...] of i32
/// or i64.
TROUPE_API edge softmax_loss(edge logits, operand labels, const loss_options& options = {},
                             std::source_location where = std::source_location::current());

/// Cross entropy of independent probabilities, element by element: labels in [0, 1], of the shape
/// of the logits. Never overflows.
TROUPE_API edge sigmoid_cross_entropy(edge logits, operand labels,
                                      std::source_location where = std::source_location::current());
TROUPE_API edge sigmoid_loss(edge logits, operand labels, const loss_options& options = {},
                             std::source_location where = std::source_location::current());

TROUPE_API edge mean_squared_error(edge predictions, operand goals,
                                   const loss_options& options = {},
                                   std::source_location where = std::source_location::current());
TROUPE_API edge mean_absolute_error(edge predictions, operand goals,
                                    const loss_options& options = {},
                                    std::source_location where = std::source_location::current());

/// Quadratic up to `delta`, linear beyond (Huber 1964).
TROUPE_API edge huber_loss(edge predictions, operand goals, double delta = 1,
                           const loss_options& options = {},
                           std::source_location where = std::source_location::current());

/// max(0, 1 - label * logit) for labels 0 and 1, which are mapped to -1 and 1.
TROUPE_API edge hinge_loss(edge logits, operand labels, const loss_options& options = {},
                           std::source_location where = std::source_location::current());

/// Sum over the last axis of p * log(p / q), for distributions p (the goals, of a floating type)
/// and q (the predictions). Terms with p = 0 are 0.
TROUPE_API edge kl_divergence_loss(edge goals, operand predictions,
                                   const loss_options& options = {},
                                   std::source_location where = std::source_location::current());

/// `scale` times half the sum of squares of all the variables: a penalty to add to a loss.
TROUPE_API edge l2_penalty(const std::vector<edge>& variables, double scale,
                           std::source_location where = std::source_location::current());

} // namespace troupe
