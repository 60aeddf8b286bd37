#include "troupe/api/train/optimizers/loss_scale.hpp"
// Adds the nodes of loss scaling.

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"
#include "troupe/api/train/optimizers/scaled_gradient.hpp"

namespace troupe {
namespace {

using location = std::source_location;

void check(bool valid, std::string_view requirement, location where) {
  if (!valid)
    throw error{invalid("loss_scale (", to_string(where), "): ", requirement)};
}

edge number(edge model, double value, location where) {
  auto& in = model.node->graph();
  auto scalar = value_or_throw(convert_literal(tensor::scalar(value), model.type()));
  auto added = in.add({.op = "Const",
                       .attrs = {{"value", std::move(scalar)}, {"dtype", model.type()}},
                       .where = where});
  return value_or_throw(std::move(added))->output(0);
}

} // namespace

loss_scale loss_scale::constant(graph_builder& in, double value, location where) {
  check(value > 0, "the value must be above 0", where);
  loss_scale scale;
  scale.value_ = in.constant(tensor::scalar(static_cast<float>(value)), {}, where);
  return scale;
}

loss_scale loss_scale::dynamic(graph_builder& in, const loss_scale_options& options,
                               location where) {
  check(options.factor > 1, "the factor must be above 1", where);
  check(options.grow_every > 0, "grow_every must be above 0", where);
  check(options.minimum > 0 && options.minimum <= options.initial &&
            options.initial <= options.maximum,
        "minimum must be above 0, and minimum <= initial <= maximum", where);
  loss_scale scale;
  scale.options_ = options;
  scale.value_ =
      in.variable(tensor::scalar(static_cast<float>(options.initial)), "loss_scale", where);
  scale.good_steps_ = in.variable(tensor::scalar(int64_t{0}), "loss_scale/good_steps", where);
  return scale;
}

std::vector<variable_gradient>
loss_scale::compute_gradients(edge loss, const std::vector<edge>& variables, location where) const {
  check(bool(loss), "the loss is an empty edge", where);
  // Weights equal the gradients of a scaled loss, but the loss itself cannot overflow.
  auto weight = mul(ones_like(loss, {}, where), cast(value_, loss.type(), {}, where), {}, where);
  auto gradients = optimizer::compute_gradients(loss, variables, {.weights = {weight}}, where);
  auto inverse = reciprocal(value_, {}, where);
  for (auto& entry : gradients)
    entry.gradient = scaled_gradient(entry.gradient, inverse, where);
  return gradients;
}

node* loss_scale::apply_gradients(optimizer& method,
                                  const std::vector<variable_gradient>& gradients,
                                  location where) const {
  if (good_steps_.is_empty())
    return method.apply_gradients(gradients, where);
  auto are_finite = all_finite(gradients, where);
  auto* applied = method.apply_gradients_if(are_finite, gradients, where);
  auto steps = add(good_steps_, number(good_steps_, 1, where), {}, where);
  auto grows = greater_equal(
      steps, number(good_steps_, static_cast<double>(options_.grow_every), where), {}, where);
  auto scaled_by = [&](double factor) {
    return mul(value_, number(value_, factor, where), {}, where);
  };
  auto larger =
      minimum(scaled_by(options_.factor), number(value_, options_.maximum, where), {}, where);
  auto smaller =
      maximum(scaled_by(1 / options_.factor), number(value_, options_.minimum, where), {}, where);
  auto zero_steps = number(good_steps_, 0, where);
  auto next = select(are_finite, select(grows, larger, value_, {}, where), smaller, {}, where);
  auto next_steps =
      select(are_finite, select(grows, zero_steps, steps, {}, where), zero_steps, {}, where);
  return detail::add_group(value_.node->graph(),
                           {applied, assign(value_, next, {}, where).node,
                            assign(good_steps_, next_steps, {}, where).node},
                           {}, where);
}

node* loss_scale::minimize(optimizer& method, edge loss, const std::vector<edge>& variables,
                           location where) const {
  return apply_gradients(method, compute_gradients(loss, variables, where), where);
}

edge all_finite(const std::vector<variable_gradient>& gradients, location where) {
  std::vector<edge> checks;
  for (const auto& entry : gradients) {
    check(bool(entry.gradient), "a gradient is an empty edge", where);
    auto rows = slices_of(entry.gradient);
    auto values = rows ? rows->values : entry.gradient;
    auto& in = values.node->graph();
    in.push_device(values.node->device());
    graph_scope on{in, graph_scope::kind::device};
    auto flat = reshape(is_finite(values, {}, where), {-1}, {}, where);
    checks.push_back(all(flat, {0}, {}, {}, where));
  }
  check(!checks.empty(), "there are no gradients", where);
  return all(pack(checks, {}, {}, where), {0}, {}, {}, where);
}

} // namespace troupe
