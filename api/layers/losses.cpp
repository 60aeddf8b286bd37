#include "troupe/api/layers/losses.hpp"
// Adds the nodes of losses.

#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/labels.hpp"
#include "troupe/api/operators.hpp"

namespace troupe {

using location = std::source_location;

edge weighted_mean(edge values, const loss_options& options, location where) {
  if (!options.weights)
    return mean(values, where);
  auto weights = mul(cast_labels(*options.weights, values.type(), values, where),
                     ones_like(values, {}, where), {}, where);
  auto nonzero_weights =
      sum(cast(not_equal(weights, 0, {}, where), values.type(), {}, where), where);
  auto total = sum(mul(values, weights, {}, where), where);
  return div(total, maximum(nonzero_weights, 1, {}, where), {}, where);
}

edge softmax_loss(edge logits, operand labels, const loss_options& options, location where) {
  auto losses = sparse_softmax_cross_entropy_with_logits(logits, labels, {}, where).loss;
  return weighted_mean(losses, options, where);
}

edge sigmoid_cross_entropy(edge logits, operand labels, location where) {
  // max(x, 0) - x * z + log(1 + exp(-|x|))
  auto tail = log1p(exp(neg(abs(logits, {}, where), {}, where), {}, where), {}, where);
  auto targets = cast_labels(labels, logits.type(), logits, where);
  auto linear = sub(relu(logits, {}, where), mul(logits, targets, {}, where), {}, where);
  return add(linear, tail, {}, where);
}

edge sigmoid_loss(edge logits, operand labels, const loss_options& options, location where) {
  return weighted_mean(sigmoid_cross_entropy(logits, labels, where), options, where);
}

edge mean_squared_error(edge predictions, operand goals, const loss_options& options,
                        location where) {
  auto targets = cast_labels(goals, predictions.type(), predictions, where);
  return weighted_mean(squared_difference(predictions, targets, {}, where), options, where);
}

edge mean_absolute_error(edge predictions, operand goals, const loss_options& options,
                         location where) {
  auto targets = cast_labels(goals, predictions.type(), predictions, where);
  return weighted_mean(abs(sub(predictions, targets, {}, where), {}, where), options, where);
}

edge huber_loss(edge predictions, operand goals, double delta, const loss_options& options,
                location where) {
  auto targets = cast_labels(goals, predictions.type(), predictions, where);
  auto deviation = abs(sub(predictions, targets, {}, where), {}, where);
  auto clipped = minimum(deviation, delta, {}, where);
  auto excess = sub(deviation, clipped, {}, where);
  auto quadratic = mul(square(clipped, {}, where), 0.5, {}, where);
  return weighted_mean(add(quadratic, mul(excess, delta, {}, where), {}, where), options, where);
}

edge hinge_loss(edge logits, operand labels, const loss_options& options, location where) {
  auto targets = cast_labels(labels, logits.type(), logits, where);
  auto signs =
      sub(mul(targets, mul(ones_like(logits, {}, where), 2, {}, where), {}, where), 1, {}, where);
  auto losses = relu(sub(1, mul(signs, logits, {}, where), {}, where), {}, where);
  return weighted_mean(losses, options, where);
}

edge kl_divergence_loss(edge goals, operand predictions, const loss_options& options,
                        location where) {
  auto q = cast_labels(predictions, goals.type(), goals, where);
  auto terms = sub(xlogy(goals, goals, {}, where), xlogy(goals, q, {}, where), {}, where);
  return weighted_mean(sum(terms, {-1}, {}, {}, where), options, where);
}

edge l2_penalty(const std::vector<edge>& variables, double scale, location where) {
  if (variables.empty())
    reject("l2_penalty", where, "there are no variables");
  std::vector<edge> penalties;
  for (const auto& variable : variables)
    penalties.push_back(l2_loss(variable, {}, where));
  auto total = penalties.size() == 1 ? penalties.front() : add_n(penalties, {}, where);
  return mul(total, scale, {}, where);
}

} // namespace troupe
