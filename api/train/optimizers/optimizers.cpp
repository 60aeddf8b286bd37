#include "troupe/api/train/optimizers/optimizers.hpp"
// Adds the update nodes of each optimizer.

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"

namespace troupe {

node* gradient_descent::update(const variable_gradient& entry, location where) {
  if (auto rows = slices_of(entry.gradient))
    return scatter_sub(entry.variable, rows->indices, mul(rows->values, rate_, {}, where), {},
                       where)
        .node;
  return apply_gradient_descent(entry.variable, rate_, entry.gradient, {}, where).node;
}

node* momentum::update(const variable_gradient& entry, location where) {
  auto m = make_slot(entry.variable, "momentum", 0, where);
  if (auto rows = summed_slices_of(entry.gradient))
    return sparse_apply_momentum(entry.variable, m, rate_, rows->values, rows->indices, decay_,
                                 {.use_nesterov = options_.nesterov}, {}, where)
        .node;
  return apply_momentum(entry.variable, m, rate_, entry.gradient, decay_,
                        {.use_nesterov = options_.nesterov}, {}, where)
      .node;
}

node* adagrad::update(const variable_gradient& entry, location where) {
  auto a = make_slot(entry.variable, "accumulator", initial_, where);
  if (auto rows = summed_slices_of(entry.gradient))
    return sparse_apply_adagrad(entry.variable, a, rate_, rows->values, rows->indices, {}, where)
        .node;
  return apply_adagrad(entry.variable, a, rate_, entry.gradient, {}, where).node;
}

node* proximal_adagrad::update(const variable_gradient& entry, location where) {
  auto a = make_slot(entry.variable, "accumulator", options_.initial_accumulator, where);
  if (auto rows = summed_slices_of(entry.gradient))
    return sparse_apply_proximal_adagrad(entry.variable, a, rate_, options_.l1, options_.l2,
                                         rows->values, rows->indices, {}, where)
        .node;
  return apply_proximal_adagrad(entry.variable, a, rate_, options_.l1, options_.l2, entry.gradient,
                                {}, where)
      .node;
}

node* adadelta::update(const variable_gradient& entry, location where) {
  auto a = make_slot(entry.variable, "accumulator", 0, where);
  auto u = make_slot(entry.variable, "accumulated_update", 0, where);
  if (auto rows = summed_slices_of(entry.gradient))
    return sparse_apply_adadelta(entry.variable, a, u, rate_, options_.rho, options_.epsilon,
                                 rows->values, rows->indices, {}, where)
        .node;
  return apply_adadelta(entry.variable, a, u, rate_, options_.rho, options_.epsilon, entry.gradient,
                        {}, where)
      .node;
}

node* rmsprop::update(const variable_gradient& entry, location where) {
  const auto& [decay, keep, epsilon, centered] = options_;
  // Mean squares begin at 1, so that the first steps are small.
  auto square = make_slot(entry.variable, "mean_square", 1, where);
  auto m = make_slot(entry.variable, "momentum", 0, where);
  auto rows = summed_slices_of(entry.gradient);
  if (!centered && rows)
    return sparse_apply_rms_prop(entry.variable, square, m, rate_, decay, keep, epsilon,
                                 rows->values, rows->indices, {}, where)
        .node;
  if (!centered)
    return apply_rms_prop(entry.variable, square, m, rate_, decay, keep, epsilon, entry.gradient,
                          {}, where)
        .node;
  auto mean = make_slot(entry.variable, "mean", 0, where);
  if (rows)
    return sparse_apply_centered_rms_prop(entry.variable, mean, square, m, rate_, decay, keep,
                                          epsilon, rows->values, rows->indices, {}, where)
        .node;
  return apply_centered_rms_prop(entry.variable, mean, square, m, rate_, decay, keep, epsilon,
                                 entry.gradient, {}, where)
      .node;
}

const adam::powers& adam::powers_for(const variable_gradient& entry, location where) {
  auto& in = entry.variable.node->graph();
  auto [position, added] = powers_.try_emplace({in.id(), entry.variable.type()});
  if (added) {
    auto make_power = [&](const operand& beta, std::string_view name) {
      auto variable = make_shared(entry.variable, name, 1, where);
      return power{variable, mul(variable, beta, {}, where)};
    };
    position->second = {make_power(options_.beta1, "adam/beta1_power"),
                        make_power(options_.beta2, "adam/beta2_power")};
  }
  return position->second;
}

node* adam::update(const variable_gradient& entry, location where) {
  auto m = make_slot(entry.variable, "mean", 0, where);
  auto v = make_slot(entry.variable, "mean_square", 0, where);
  const auto& [beta1, beta2] = powers_for(entry, where);
  return apply_adam(entry.variable, m, v, beta1.next, beta2.next, rate_, options_.beta1,
                    options_.beta2, options_.epsilon, entry.gradient,
                    {.use_nesterov = options_.nesterov}, {}, where)
      .node;
}

std::vector<node*> adam::after_updates(graph& in, location where) {
  std::vector<node*> updates;
  for (const auto& [key, powers] : powers_)
    if (key.first == in.id())
      for (const auto& [variable, next] : powers)
        updates.push_back(assign(variable, next, {}, where).node);
  return updates;
}

node* ftrl::update(const variable_gradient& entry, location where) {
  auto a = make_slot(entry.variable, "accumulator", options_.initial_accumulator, where);
  auto linear = make_slot(entry.variable, "linear", 0, where);
  if (auto rows = summed_slices_of(entry.gradient))
    return sparse_apply_ftrl(entry.variable, a, linear, rows->values, rows->indices, rate_,
                             options_.l1, options_.l2, options_.power, {}, where)
        .node;
  return apply_ftrl(entry.variable, a, linear, entry.gradient, rate_, options_.l1, options_.l2,
                    options_.power, {}, where)
      .node;
}

} // namespace troupe
