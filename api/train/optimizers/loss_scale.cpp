#include "troupe/api/train/optimizers/loss_scale.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"

namespace troupe {
namespace {

using location = std::source_location;

void check(bool good, std::string_view why, location where) {
  if (!good)
    throw error{invalid("loss_scale (", to_string(where), "): ", why)};
}

edge number(edge like, double value, location where) {
  auto& in = like.node->graph();
  auto one = value_or_throw(converted(tensor::scalar(value), like.type()));
  auto made = in.add({.op = "Const",
                      .attrs = {{"value", std::move(one)}, {"dtype", like.type()}},
                      .where = where});
  return value_or_throw(std::move(made))->output(0);
}

// A gradient of rows stays one: the rows are scaled.
edge scaled(edge gradient, edge by, location where) {
  const auto& at = *gradient.node;
  auto& in = at.graph();
  in.push_device(at.device());
  graph_scope on{in, graph_scope::kind::device};
  if (slices_of(gradient)) {
    if (at.op().name == "AddN") {
      std::vector<edge> parts;
      for (const auto& one : at.inputs())
        parts.push_back(scaled(one, by, where));
      return add_n(parts, {}, where);
    }
    return unsorted_segment_sum(scaled(at.inputs()[0], by, where), at.inputs()[1], at.inputs()[2],
                                {}, where);
  }
  return mul(gradient, cast(by, gradient.type(), {}, where), {}, where);
}

} // namespace

loss_scale loss_scale::constant(graph_builder& in, double value, location where) {
  check(value > 0, "it must be above 0", where);
  loss_scale made;
  made.value_ = in.constant(tensor::scalar(static_cast<float>(value)), {}, where);
  return made;
}

loss_scale loss_scale::dynamic(graph_builder& in, const loss_scale_options& options,
                               location where) {
  check(options.factor > 1, "the factor must be above 1", where);
  check(options.grow_every > 0, "grow_every must be above 0", where);
  check(options.least > 0 && options.least <= options.initial && options.initial <= options.most,
        "it must hold that 0 < least <= initial <= most", where);
  loss_scale made;
  made.options_ = options;
  made.value_ =
      in.variable(tensor::scalar(static_cast<float>(options.initial)), "loss_scale", where);
  made.good_steps_ = in.variable(tensor::scalar(int64_t{0}), "loss_scale/good_steps", where);
  return made;
}

std::vector<variable_gradient>
loss_scale::compute_gradients(edge loss, const std::vector<edge>& variables, location where) const {
  check(bool(loss), "the loss is an edge to nothing", where);
  // The same as the gradients of a scaled loss, and the loss itself cannot overflow.
  auto weight = mul(ones_like(loss, {}, where), cast(value_, loss.type(), {}, where), {}, where);
  auto gradients = optimizer::compute_gradients(loss, variables, {.weights = {weight}}, where);
  auto back = reciprocal(value_, {}, where);
  for (auto& one : gradients)
    one.gradient = scaled(one.gradient, back, where);
  return gradients;
}

node* loss_scale::apply_gradients(optimizer& by, const std::vector<variable_gradient>& gradients,
                                  location where) const {
  if (good_steps_.is_nothing())
    return by.apply_gradients(gradients, where);
  auto good = all_finite(gradients, where);
  auto* applied = by.apply_gradients_if(good, gradients, where);
  auto steps = add(good_steps_, number(good_steps_, 1, where), {}, where);
  auto grows = greater_equal(
      steps, number(good_steps_, static_cast<double>(options_.grow_every), where), {}, where);
  auto times = [&](double factor) { return mul(value_, number(value_, factor, where), {}, where); };
  auto larger = minimum(times(options_.factor), number(value_, options_.most, where), {}, where);
  auto smaller =
      maximum(times(1 / options_.factor), number(value_, options_.least, where), {}, where);
  auto none = number(good_steps_, 0, where);
  auto next = select(good, select(grows, larger, value_, {}, where), smaller, {}, where);
  auto next_steps = select(good, select(grows, none, steps, {}, where), none, {}, where);
  return detail::add_group(value_.node->graph(),
                           {applied, assign(value_, next, {}, where).node,
                            assign(good_steps_, next_steps, {}, where).node},
                           {}, where);
}

node* loss_scale::minimize(optimizer& by, edge loss, const std::vector<edge>& variables,
                           location where) const {
  return apply_gradients(by, compute_gradients(loss, variables, where), where);
}

edge all_finite(const std::vector<variable_gradient>& gradients, location where) {
  std::vector<edge> each;
  for (const auto& one : gradients) {
    check(bool(one.gradient), "a gradient is an edge to nothing", where);
    auto rows = slices_of(one.gradient);
    auto values = rows ? rows->values : one.gradient;
    auto& in = values.node->graph();
    in.push_device(values.node->device());
    graph_scope on{in, graph_scope::kind::device};
    auto flat = reshape(is_finite(values, {}, where), {-1}, {}, where);
    each.push_back(all(flat, {0}, {}, {}, where));
  }
  check(!each.empty(), "there are no gradients", where);
  return all(pack(each, {}, {}, where), {0}, {}, {}, where);
}

} // namespace troupe
