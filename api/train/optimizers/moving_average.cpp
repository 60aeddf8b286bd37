#include "troupe/api/train/optimizers/moving_average.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

namespace troupe {
namespace {

edge slower_at_first(operand decay, edge step, std::source_location where) {
  auto counted = cast(step, dtype::f64, {}, where);
  auto most = div(add(counted, 1.0, {}, where), add(counted, 10.0, {}, where), {}, where);
  return minimum(decay, most, {}, where);
}

operand rest_of(const operand& decay, std::source_location where) {
  if (decay.is_edge())
    return sub(1.0, decay, {}, where);
  return 1 - value_or_throw(converted(decay.value(), dtype::f64)).data<double>()[0];
}

} // namespace

node* exponential_moving_average::follow(graph_builder& in, node* train,
                                         std::vector<variable_handle> variables, location where) {
  if (decay_.is_edge())
    need_edge("follow", where, decay_.from(), "the decay");
  else if (decay_.value().elements() != 1)
    reject("follow", where, "the decay must be one number, got ", decay_.value().elements());
  if (variables.empty())
    for (const auto& one : in.variables())
      if (one.initializer && floating.contains(one.type()) &&
          !detail::is_local_variable(*one.ref.node))
        variables.push_back(one);
  for (const auto& one : variables) {
    need_edge("follow", where, one, "a variable");
    if (!one.initializer)
      throw error{invalid("follow (", to_string(where), "): '", one.name(),
                          "' has no initial value to begin at")};
    auto on = in.on(one.ref.node->device(), where);
    averages_[one.ref.node] =
        in.variable(one.initializer->inputs()[1], one.name() + "/average", where);
  }
  auto later = in.after({train}, where);
  auto rest = rest_of(step_ ? operand{slower_at_first(decay_, step_, where)} : decay_, where);
  std::vector<node*> updates;
  for (const auto& one : variables) {
    auto on = in.on(one.ref.node->device(), where);
    auto average = averages_[one.ref.node];
    auto behind = sub(average, one, {}, where);
    auto part = rest.is_edge() && rest.from().type() != one.type()
                    ? operand{cast(rest, one.type(), {}, where)}
                    : rest;
    updates.push_back(assign_sub(average, mul(behind, part, {}, where), {}, where).node);
  }
  return in.group(updates, {}, where);
}

variable_handle exponential_moving_average::average(edge variable, location where) const {
  if (auto it = averages_.find(variable.node); it != averages_.end())
    return it->second;
  throw error{failure(error_kind::not_found, "average (", to_string(where), "): '", variable,
                      "' is not followed")};
}

node* exponential_moving_average::assign_averages(graph_builder& in, location where) const {
  std::vector<node*> updates;
  for (const auto& [variable, average] : averages_)
    updates.push_back(assign(variable->output(0), average, {}, where).node);
  return in.group(updates, {}, where);
}

} // namespace troupe
