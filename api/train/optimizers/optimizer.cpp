#include "troupe/api/train/optimizers/optimizer.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"

#include <algorithm>

namespace troupe {
namespace {

/// The floating variables from which the loss can be reached, in the order in which they were
/// added.
std::vector<edge> variables_behind(edge loss) {
  std::vector<bool> seen(loss.node->graph().nodes().size());
  std::vector<node*> open{loss.node}, found;
  while (!open.empty()) {
    auto* at = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(at->id())])
      continue;
    seen[static_cast<size_t>(at->id())] = true;
    if (at->op().makes == resource::variable && floating.contains(at->output_type(0)))
      found.push_back(at);
    for (const auto& input : at->inputs())
      open.push_back(input.node);
  }
  std::ranges::sort(found, {}, &node::id);
  std::vector<edge> refs;
  for (auto* one : found)
    refs.push_back(one->output(0));
  return refs;
}

// A name that is free in the current scope.
std::string free_name(const graph& in, std::string name) {
  auto candidate = name;
  for (int i = 1; in.find(in.scope() + candidate); ++i)
    candidate = concat(name, '_', i);
  return candidate;
}

// Puts back what a variable was before the updates, unless the condition holds.
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
  auto one = value_or_throw(converted(tensor::scalar(value), type));
  return fill(in, tensor::vector<int64_t>({dims.begin(), dims.end()}), one, {}, where);
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
  if (loss.is_nothing())
    reject("minimize", where, "the loss is an edge to nothing");
  auto chosen = variables.empty() ? variables_behind(loss) : variables;
  if (chosen.empty())
    reject("minimize", where, loss.node->description(),
           " depends on no variable of a floating type");
  if (std::ranges::any_of(chosen, &edge::is_nothing))
    reject("minimize", where, "a variable is an edge to nothing");
  auto found = detail::add_gradients(loss.node->graph(), {loss}, chosen, options, where);
  std::vector<variable_gradient> pairs;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (found[i])
      pairs.push_back({chosen[i], found[i]});
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
  if (condition.is_nothing() || condition.type() != dtype::boolean ||
      !condition.dims().compatible(partial_shape{}))
    reject("minimize", where, "the condition must be a scalar of type bool");
  return apply(condition, gradients, where);
}

node* optimizer::apply(edge condition, const std::vector<variable_gradient>& gradients,
                       location where) {
  std::vector<node*> updates, restored;
  for (const auto& one : gradients) {
    if (one.variable.is_nothing() || one.gradient.is_nothing())
      reject("minimize", where, "a variable or a gradient is an edge to nothing");
    // An update runs where its variable lives: that is where the new value must be.
    auto& in = one.variable.node->graph();
    in.push_device(one.variable.node->device());
    graph_scope on{in, graph_scope::kind::device};
    updates.push_back(update(one, where));
    if (condition)
      for (auto state : remembered_of(one.variable))
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
    for (const auto& [key, one] : shared_)
      if (std::get<0>(key) == in.id())
        restored.push_back(keep_unless(condition, one, updates, where));
  std::ranges::copy(restored, std::back_inserter(updates));
  return detail::add_group(in, updates, {}, where);
}

std::vector<edge> optimizer::remembered_of(edge variable) const {
  std::vector<edge> all{variable};
  for (const auto& [key, slot] : slots_)
    if (key.first == key_of(variable))
      all.push_back(slot);
  return all;
}

node* optimizer::minimize(edge loss, const std::vector<edge>& variables, location where) {
  return apply_gradients(compute_gradients(loss, variables, where), where);
}

optimizer::variable_key optimizer::key_of(edge variable) {
  return {variable.node->graph().id(), variable.node->id()};
}

variable_handle optimizer::make_slot(edge variable, std::string_view name, double initial,
                                     location where) {
  if (auto it = slots_.find({key_of(variable), std::string{name}}); it != slots_.end())
    return it->second;
  auto& in = variable.node->graph();
  if (!variable.dims().fully_known())
    reject("minimize", where, variable.node->description(), " has the shape ", variable.dims(),
           "; what an optimizer remembers of it needs a known one");
  auto value = filled(in, variable.type(), variable.dims().known(), initial, where);
  auto made =
      detail::add_variable(in, value, free_name(in, concat(variable.node->name(), '/', name)),
                           where, {.by_handle = detail::is_by_handle(variable)});
  slots_[{key_of(variable), std::string{name}}] = made;
  return made;
}

variable_handle optimizer::make_shared(edge variable, std::string_view name, double initial,
                                       location where) {
  auto& in = variable.node->graph();
  auto [it, fresh] = shared_.try_emplace({in.id(), variable.type(), std::string{name}});
  if (fresh)
    it->second = detail::add_variable(in, filled(in, variable.type(), shape{}, initial, where),
                                      free_name(in, std::string{name}), where,
                                      {.by_handle = detail::is_by_handle(variable)});
  return it->second;
}

variable_handle optimizer::slot(edge variable, std::string_view name, location where) const {
  need_edge("slot", where, variable, "the variable");
  std::string others;
  for (const auto& [key, made] : slots_) {
    if (key.first == key_of(variable) && key.second == name)
      return made;
    if (key.first == key_of(variable))
      others += concat(others.empty() ? "" : ", ", key.second);
  }
  throw error{failure(error_kind::not_found, "there is no slot '", name, "' of '", variable,
                      "'; there is ", others.empty() ? "none" : others)
                  .within(concat("slot (", to_string(where), ')'))};
}

} // namespace troupe
