#include "troupe/api/train/optimizers/optimizers.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"

namespace troupe {

node* gradient_descent::update(const variable_gradient& of, location where) {
  if (auto rows = slices_of(of.gradient))
    return scatter_sub(of.variable, rows->indices, mul(rows->values, rate_, {}, where), {}, where)
        .node;
  return apply_gradient_descent(of.variable, rate_, of.gradient, {}, where).node;
}

node* momentum::update(const variable_gradient& of, location where) {
  auto m = make_slot(of.variable, "momentum", 0, where);
  if (auto rows = summed_slices_of(of.gradient))
    return sparse_apply_momentum(of.variable, m, rate_, rows->values, rows->indices, keep_,
                                 {.use_nesterov = options_.nesterov}, {}, where)
        .node;
  return apply_momentum(of.variable, m, rate_, of.gradient, keep_,
                        {.use_nesterov = options_.nesterov}, {}, where)
      .node;
}

node* adagrad::update(const variable_gradient& of, location where) {
  auto a = make_slot(of.variable, "accumulator", initial_, where);
  if (auto rows = summed_slices_of(of.gradient))
    return sparse_apply_adagrad(of.variable, a, rate_, rows->values, rows->indices, {}, where).node;
  return apply_adagrad(of.variable, a, rate_, of.gradient, {}, where).node;
}

node* proximal_adagrad::update(const variable_gradient& of, location where) {
  auto a = make_slot(of.variable, "accumulator", options_.initial_accumulator, where);
  if (auto rows = summed_slices_of(of.gradient))
    return sparse_apply_proximal_adagrad(of.variable, a, rate_, options_.l1, options_.l2,
                                         rows->values, rows->indices, {}, where)
        .node;
  return apply_proximal_adagrad(of.variable, a, rate_, options_.l1, options_.l2, of.gradient, {},
                                where)
      .node;
}

node* adadelta::update(const variable_gradient& of, location where) {
  auto a = make_slot(of.variable, "accumulator", 0, where);
  auto u = make_slot(of.variable, "accumulated_update", 0, where);
  if (auto rows = summed_slices_of(of.gradient))
    return sparse_apply_adadelta(of.variable, a, u, rate_, options_.rho, options_.epsilon,
                                 rows->values, rows->indices, {}, where)
        .node;
  return apply_adadelta(of.variable, a, u, rate_, options_.rho, options_.epsilon, of.gradient, {},
                        where)
      .node;
}

node* rmsprop::update(const variable_gradient& of, location where) {
  const auto& [decay, keep, epsilon, centered] = options_;
  // One at first, as if gradients had been large: the first steps are small then.
  auto square = make_slot(of.variable, "mean_square", 1, where);
  auto m = make_slot(of.variable, "momentum", 0, where);
  auto rows = summed_slices_of(of.gradient);
  if (!centered && rows)
    return sparse_apply_rms_prop(of.variable, square, m, rate_, decay, keep, epsilon, rows->values,
                                 rows->indices, {}, where)
        .node;
  if (!centered)
    return apply_rms_prop(of.variable, square, m, rate_, decay, keep, epsilon, of.gradient, {},
                          where)
        .node;
  auto mean = make_slot(of.variable, "mean", 0, where);
  if (rows)
    return sparse_apply_centered_rms_prop(of.variable, mean, square, m, rate_, decay, keep, epsilon,
                                          rows->values, rows->indices, {}, where)
        .node;
  return apply_centered_rms_prop(of.variable, mean, square, m, rate_, decay, keep, epsilon,
                                 of.gradient, {}, where)
      .node;
}

const adam::powers& adam::powers_for(const variable_gradient& of, location where) {
  auto& in = of.variable.node->graph();
  auto [it, added] = powers_.try_emplace({in.id(), of.variable.type()});
  if (added) {
    auto one = [&](const operand& beta, std::string_view name) {
      auto made = make_shared(of.variable, name, 1, where);
      return power{made, mul(made, beta, {}, where)};
    };
    it->second = {one(options_.beta1, "adam/beta1_power"), one(options_.beta2, "adam/beta2_power")};
  }
  return it->second;
}

node* adam::update(const variable_gradient& of, location where) {
  auto m = make_slot(of.variable, "mean", 0, where);
  auto v = make_slot(of.variable, "mean_square", 0, where);
  const auto& [beta1, beta2] = powers_for(of, where);
  return apply_adam(of.variable, m, v, beta1.next, beta2.next, rate_, options_.beta1,
                    options_.beta2, options_.epsilon, of.gradient,
                    {.use_nesterov = options_.nesterov}, {}, where)
      .node;
}

std::vector<node*> adam::after_updates(graph& in, location where) {
  std::vector<node*> found;
  for (const auto& [key, powers] : powers_)
    if (key.first == in.id())
      for (const auto& [variable, next] : powers)
        found.push_back(assign(variable, next, {}, where).node);
  return found;
}

node* ftrl::update(const variable_gradient& of, location where) {
  auto a = make_slot(of.variable, "accumulator", options_.initial_accumulator, where);
  auto linear = make_slot(of.variable, "linear", 0, where);
  if (auto rows = summed_slices_of(of.gradient))
    return sparse_apply_ftrl(of.variable, a, linear, rows->values, rows->indices, rate_,
                             options_.l1, options_.l2, options_.power, {}, where)
        .node;
  return apply_ftrl(of.variable, a, linear, of.gradient, rate_, options_.l1, options_.l2,
                    options_.power, {}, where)
      .node;
}

} // namespace troupe
