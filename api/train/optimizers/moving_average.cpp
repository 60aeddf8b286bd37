#include "troupe/api/train/optimizers/moving_average.hpp"
// Adds the nodes of moving averages.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

namespace troupe {
namespace {

edge initial_decay(operand decay, edge step, std::source_location where) {
  auto step_count = cast(step, dtype::f64, {}, where);
  auto limit = div(add(step_count, 1.0, {}, where), add(step_count, 10.0, {}, where), {}, where);
  return minimum(decay, limit, {}, where);
}

operand complement_of(const operand& decay, std::source_location where) {
  if (decay.is_edge())
    return sub(1.0, decay, {}, where);
  return 1 - value_or_throw(convert_literal(decay.value(), dtype::f64)).data<double>()[0];
}

} // namespace

node* exponential_moving_average::track(graph_builder& in, node* train,
                                        std::vector<variable_handle> variables, location where) {
  if (decay_.is_edge())
    need_edge("track", where, decay_.source(), "the decay");
  else if (decay_.value().elements() != 1)
    reject("track", where, "the decay must be one number, got ", decay_.value().elements());
  if (variables.empty())
    for (const auto& candidate : in.variables())
      if (candidate.initializer && floating.contains(candidate.type()) &&
          !detail::is_local_variable(*candidate.ref.node))
        variables.push_back(candidate);
  for (const auto& variable : variables) {
    need_edge("track", where, variable, "a variable");
    if (!variable.initializer)
      throw error{
          invalid("track (", to_string(where), "): '", variable.name(), "' has no initial value")};
    auto on = in.on(variable.ref.node->device(), where);
    averages_[variable.ref.node] =
        in.variable(variable.initializer->inputs()[1], variable.name() + "/average", where);
  }
  auto later = in.after({train}, where);
  auto update_rate =
      complement_of(step_ ? operand{initial_decay(decay_, step_, where)} : decay_, where);
  std::vector<node*> updates;
  for (const auto& variable : variables) {
    auto on = in.on(variable.ref.node->device(), where);
    auto average = averages_[variable.ref.node];
    auto difference = sub(average, variable, {}, where);
    auto factor = update_rate.is_edge() && update_rate.source().type() != variable.type()
                      ? operand{cast(update_rate, variable.type(), {}, where)}
                      : update_rate;
    updates.push_back(assign_sub(average, mul(difference, factor, {}, where), {}, where).node);
  }
  return in.group(updates, {}, where);
}

variable_handle exponential_moving_average::average(edge variable, location where) const {
  if (auto entry = averages_.find(variable.node); entry != averages_.end())
    return entry->second;
  throw error{failure(error_kind::not_found, "average (", to_string(where), "): '", variable,
                      "' has no moving average")};
}

node* exponential_moving_average::assign_averages(graph_builder& in, location where) const {
  std::vector<node*> updates;
  for (const auto& [variable, average] : averages_)
    updates.push_back(assign(variable->output(0), average, {}, where).node);
  return in.group(updates, {}, where);
}

} // namespace troupe
