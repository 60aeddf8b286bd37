#include "troupe/api/train/optimizers/optimizer.hpp"
// Computes and applies gradients, and keeps the slots of optimizers.

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"

#include <algorithm>

namespace troupe {
namespace {

/// Returns the floating variables on which the loss depends, in the order of their creation.
std::vector<edge> variables_of(edge loss) {
  std::vector<bool> visited(loss.node->graph().nodes().size());
  std::vector<node*> pending{loss.node}, variables;
  while (!pending.empty()) {
    auto* current = pending.back();
    pending.pop_back();
    if (visited[static_cast<size_t>(current->id())])
      continue;
    visited[static_cast<size_t>(current->id())] = true;
    if (current->op().state_kind == resource::variable &&
        floating.contains(current->output_type(0)))
      variables.push_back(current);
    for (const auto& input : current->inputs())
      pending.push_back(input.node);
  }
  std::ranges::sort(variables, {}, &node::id);
  std::vector<edge> refs;
  for (auto* variable : variables)
    refs.push_back(variable->output(0));
  return refs;
}

// Returns an unused name in the current scope.
std::string free_name(const graph& in, std::string name) {
  auto candidate = name;
  for (int i = 1; in.find(in.scope() + candidate); ++i)
    candidate = concat(name, '_', i);
  return candidate;
}

// Restores the value that a variable had before the updates, if the condition is false.
node* keep_unless(edge condition, edge variable, const std::vector<node*>& updates,
                  std::source_location where) {
  auto& in = variable.node->graph();
  in.push_device(variable.node->device());
  graph_scope on{in, graph_scope::kind::device};
  auto before = identity(variable, {}, where);
  in.push_controls(updates);
  graph_scope later{in, graph_scope::kind::controls};
  auto after = identity(variable, {}, where);
  return assign(variable, select(condition, after, before, {}, where), {}, where).node;
}

edge filled(graph& in, dtype type, const shape& dims, double value, std::source_location where) {
  auto scalar = value_or_throw(convert_literal(tensor::scalar(value), type));
  return fill(in, tensor::vector<int64_t>({dims.begin(), dims.end()}), scalar, {}, where);
}

} // namespace

std::vector<variable_gradient>
optimizer::compute_gradients(edge loss, const std::vector<edge>& variables, location where) {
  return compute_gradients(loss, variables, {}, where);
}

std::vector<variable_gradient> optimizer::compute_gradients(edge loss,
                                                            const std::vector<edge>& variables,
                                                            const gradient_options& options,
                                                            location where) {
  if (loss.is_empty())
    reject("minimize", where, "the loss is an empty edge");
  auto chosen = variables.empty() ? variables_of(loss) : variables;
  if (chosen.empty())
    reject("minimize", where, loss.node->description(),
           " depends on no variable of a floating type");
  if (std::ranges::any_of(chosen, &edge::is_empty))
    reject("minimize", where, "a variable is an empty edge");
  auto gradients = detail::add_gradients(loss.node->graph(), {loss}, chosen, options, where);
  std::vector<variable_gradient> pairs;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (gradients[i])
      pairs.push_back({chosen[i], gradients[i]});
    else if (!variables.empty())
      reject("minimize", where, loss.node->description(), " does not depend on ",
             chosen[i].node->description());
  }
  if (pairs.empty())
    reject("minimize", where, "no gradient of ", loss.node->description(), " reaches a variable");
  return pairs;
}

node* optimizer::apply_gradients(const std::vector<variable_gradient>& gradients, location where) {
  return apply({}, gradients, where);
}

node* optimizer::apply_gradients_if(edge condition, const std::vector<variable_gradient>& gradients,
                                    location where) {
  if (condition.is_empty() || condition.type() != dtype::boolean ||
      !condition.dims().compatible(partial_shape{}))
    reject("minimize", where, "the condition must be a scalar of type bool");
  return apply(condition, gradients, where);
}

node* optimizer::apply(edge condition, const std::vector<variable_gradient>& gradients,
                       location where) {
  std::vector<node*> updates, restored;
  for (const auto& entry : gradients) {
    if (entry.variable.is_empty() || entry.gradient.is_empty())
      reject("minimize", where, "a variable or a gradient is an empty edge");
    // The update runs on the device of its variable, where the new value is needed.
    auto& in = entry.variable.node->graph();
    in.push_device(entry.variable.node->device());
    graph_scope on{in, graph_scope::kind::device};
    updates.push_back(update(entry, where));
    if (condition)
      for (auto state : state_of(entry.variable))
        restored.push_back(keep_unless(condition, state, {updates.back()}, where));
  }
  if (updates.empty())
    reject("minimize", where, "there are no gradients to apply");
  auto& in = gradients.front().variable.node->graph();
  std::vector<node*> last;
  {
    in.push_controls(updates);
    graph_scope later{in, graph_scope::kind::controls};
    last = after_updates(in, where);
  }
  std::ranges::copy(last, std::back_inserter(updates));
  if (condition)
    for (const auto& [key, shared_variable] : shared_)
      if (std::get<0>(key) == in.id())
        restored.push_back(keep_unless(condition, shared_variable, updates, where));
  std::ranges::copy(restored, std::back_inserter(updates));
  return detail::add_group(in, updates, {}, where);
}

std::vector<edge> optimizer::state_of(edge variable) const {
  std::vector<edge> variables{variable};
  for (const auto& [key, slot] : slots_)
    if (key.first == key_of(variable))
      variables.push_back(slot);
  return variables;
}

node* optimizer::minimize(edge loss, const std::vector<edge>& variables, location where) {
  return apply_gradients(compute_gradients(loss, variables, where), where);
}

optimizer::variable_key optimizer::key_of(edge variable) {
  return {variable.node->graph().id(), variable.node->id()};
}

variable_handle optimizer::make_slot(edge variable, std::string_view name, double initial,
                                     location where) {
  if (auto existing = slots_.find({key_of(variable), std::string{name}}); existing != slots_.end())
    return existing->second;
  auto& in = variable.node->graph();
  if (!variable.dims().fully_known())
    reject("minimize", where, variable.node->description(), " has the shape ", variable.dims(),
           "; the slots of an optimizer need a known shape");
  auto value = filled(in, variable.type(), variable.dims().known(), initial, where);
  auto created =
      detail::add_variable(in, value, free_name(in, concat(variable.node->name(), '/', name)),
                           where, {.use_resource = detail::is_resource_variable(variable)});
  slots_[{key_of(variable), std::string{name}}] = created;
  return created;
}

variable_handle optimizer::make_shared(edge variable, std::string_view name, double initial,
                                       location where) {
  auto& in = variable.node->graph();
  auto [entry, is_new] = shared_.try_emplace({in.id(), variable.type(), std::string{name}});
  if (is_new)
    entry->second = detail::add_variable(in, filled(in, variable.type(), shape{}, initial, where),
                                         free_name(in, std::string{name}), where,
                                         {.use_resource = detail::is_resource_variable(variable)});
  return entry->second;
}

variable_handle optimizer::slot(edge variable, std::string_view name, location where) const {
  need_edge("slot", where, variable, "the variable");
  std::string names;
  for (const auto& [key, existing] : slots_) {
    if (key.first == key_of(variable) && key.second == name)
      return existing;
    if (key.first == key_of(variable))
      names += concat(names.empty() ? "" : ", ", key.second);
  }
  throw error{failure(error_kind::not_found, "there is no slot '", name, "' of '", variable,
                      "'; there is ", names.empty() ? "none" : names)
                  .with_context(concat("slot (", to_string(where), ')'))};
}

} // namespace troupe
