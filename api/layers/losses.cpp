#include "troupe/api/layers/losses.hpp"

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
  auto counted = sum(cast(not_equal(weights, 0, {}, where), values.type(), {}, where), where);
  auto total = sum(mul(values, weights, {}, where), where);
  return div(total, maximum(counted, 1, {}, where), {}, where);
}

edge softmax_loss(edge logits, operand labels, const loss_options& options, location where) {
  auto each = sparse_softmax_cross_entropy_with_logits(logits, labels, {}, where).loss;
  return weighted_mean(each, options, where);
}

edge sigmoid_cross_entropy(edge logits, operand labels, location where) {
  // max(x, 0) - x * z + log(1 + exp(-|x|))
  auto tail = log1p(exp(neg(abs(logits, {}, where), {}, where), {}, where), {}, where);
  auto truth = cast_labels(labels, logits.type(), logits, where);
  auto linear = sub(relu(logits, {}, where), mul(logits, truth, {}, where), {}, where);
  return add(linear, tail, {}, where);
}

edge sigmoid_loss(edge logits, operand labels, const loss_options& options, location where) {
  return weighted_mean(sigmoid_cross_entropy(logits, labels, where), options, where);
}

edge mean_squared_error(edge predictions, operand wanted, const loss_options& options,
                        location where) {
  auto goal = cast_labels(wanted, predictions.type(), predictions, where);
  return weighted_mean(squared_difference(predictions, goal, {}, where), options, where);
}

edge mean_absolute_error(edge predictions, operand wanted, const loss_options& options,
                         location where) {
  auto goal = cast_labels(wanted, predictions.type(), predictions, where);
  return weighted_mean(abs(sub(predictions, goal, {}, where), {}, where), options, where);
}

edge huber_loss(edge predictions, operand wanted, double delta, const loss_options& options,
                location where) {
  auto goal = cast_labels(wanted, predictions.type(), predictions, where);
  auto error = abs(sub(predictions, goal, {}, where), {}, where);
  auto inside = minimum(error, delta, {}, where);
  auto outside = sub(error, inside, {}, where);
  auto quadratic = mul(square(inside, {}, where), 0.5, {}, where);
  return weighted_mean(add(quadratic, mul(outside, delta, {}, where), {}, where), options, where);
}

edge hinge_loss(edge logits, operand labels, const loss_options& options, location where) {
  auto truth = cast_labels(labels, logits.type(), logits, where);
  auto sides =
      sub(mul(truth, mul(ones_like(logits, {}, where), 2, {}, where), {}, where), 1, {}, where);
  auto each = relu(sub(1, mul(sides, logits, {}, where), {}, where), {}, where);
  return weighted_mean(each, options, where);
}

edge kl_divergence_loss(edge wanted, operand found, const loss_options& options, location where) {
  auto other = cast_labels(found, wanted.type(), wanted, where);
  auto each = sub(xlogy(wanted, wanted, {}, where), xlogy(wanted, other, {}, where), {}, where);
  return weighted_mean(sum(each, {-1}, {}, {}, where), options, where);
}

edge l2_penalty(const std::vector<edge>& variables, double scale, location where) {
  if (variables.empty())
    reject("l2_penalty", where, "there are no variables");
  std::vector<edge> each;
  for (const auto& one : variables)
    each.push_back(l2_loss(one, {}, where));
  auto all = each.size() == 1 ? each.front() : add_n(each, {}, where);
  return mul(all, scale, {}, where);
}

} // namespace troupe
