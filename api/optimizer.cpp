#include "troupe/api/optimizer.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/ops.hpp"
#include "troupe/runtime/gradient.hpp"

#include <algorithm>

namespace troupe {
namespace {

[[noreturn]] void fail(std::source_location where, const auto&... parts) {
  throw error{invalid(parts...).within(concat("minimize (", to_string(where), ')'))};
}

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

} // namespace

std::vector<variable_gradient>
gradient_descent::compute_gradients(edge loss, const std::vector<edge>& variables,
                                    std::source_location where) const {
  if (!loss)
    fail(where, "the loss is an edge to nothing");
  auto chosen = variables.empty() ? variables_behind(loss) : variables;
  if (chosen.empty())
    fail(where, loss.node->description(), " depends on no variable of a floating type");
  auto found = value_or_throw(troupe::gradients({loss}, chosen, {}, where));
  std::vector<variable_gradient> pairs;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (found[i])
      pairs.push_back({chosen[i], found[i]});
    else if (!variables.empty())
      fail(where, loss.node->description(), " does not depend on ", chosen[i].node->description());
  }
  if (pairs.empty())
    fail(where, "no gradient of ", loss.node->description(), " reaches a variable");
  return pairs;
}

node* gradient_descent::apply_gradients(const std::vector<variable_gradient>& gradients,
                                        std::source_location where) const {
  std::vector<node*> updates;
  graph* in = nullptr;
  for (const auto& [variable, gradient] : gradients) {
    if (!variable || !gradient)
      fail(where, "a variable or a gradient is an edge to nothing");
    in = &variable.node->graph();
    // An update runs where its variable lives: that is where the new value must be.
    in->push_device(variable.node->device());
    graph_scope on{*in, graph_scope::kind::device};
    updates.push_back(apply_gradient_descent(variable, rate_, gradient, {}, where).node);
  }
  if (!in)
    fail(where, "there are no gradients to apply");
  return value_or_throw(in->add({.op = "NoOp", .controls = updates, .where = where}));
}

node* gradient_descent::minimize(edge loss, const std::vector<edge>& variables,
                                 std::source_location where) const {
  return apply_gradients(compute_gradients(loss, variables, where), where);
}

} // namespace troupe
