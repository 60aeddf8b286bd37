#include "troupe/runtime/autodiff/function_gradient.hpp"

#include "troupe/runtime/autodiff/recomputable_functions.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

// The backward function while it is built around the forward function. Each value that it takes
// from the forward function must be saved, so it takes as little as possible: shapes instead of
// tensors.
class backward_body final : public function_body {
public:
  /// With `recomputes`, values of the forward function are recomputed instead of saved, if
  /// possible.
  backward_body(graph& forward, bool recomputes)
      : function_body(forward, SIZE_MAX), forward_(forward), recomputes_(recomputes) {
    for (const auto& forward_node : forward.nodes()) {
      if (runs_functions(forward_node->op()) && functions_are_recomputable(*forward_node))
        continue; // these functions only read state
      for (const auto& access : accesses_of(*forward_node))
        if (access.updates)
          updated_.insert(access.state);
    }
  }

  /// Returns the node to differentiate for a node of the forward function: the node itself or, if
  /// it runs functions that can be recomputed here, its copy. The copy then keeps values for the
  /// backward function only while the gradient is computed.
  result<node*> node_to_differentiate(node& forward_node) {
    if (!recomputes_ || !runs_functions(forward_node.op()) || !is_recomputable(forward_node))
      return &forward_node;
    TROUPE_TRY(recompute(forward_node));
    return copies_.at(&forward_node);
  }

private:
  bool is_of_forward(edge source) const { return source && &source.node->graph() == &forward_; }

  bool keeps_in_outer_graph(node_spec& spec) override {
    if (spec.inputs.empty() ||
        !std::ranges::all_of(spec.inputs, [&](auto& input) { return is_of_forward(input); }))
      return false;
    if (spec.op == "Identity" && spec.inputs[0].node->output_is_ref(spec.inputs[0].index))
      return true; // the forward function reads the variable
    if (spec.op == "ZerosLike" || spec.op == "OnesLike")
      replace_by_fill(spec);
    return spec.op == "Shape" || spec.op == "ShapeN" || spec.op == "Size" || spec.op == "Rank" ||
           spec.op == "TensorListLength" || spec.op == "BroadcastGradientArgs";
  }

  // Saves the value that was read of a variable, because nodes around the function may have changed
  // the variable since.
  result<edge> import_edge(edge source) override {
    if (is_of_forward(source) && source.node->output_is_ref(source.index)) {
      auto& value = read_[{source.node, source.index}];
      if (!value) {
        TROUPE_ASSIGN(auto* identity, forward_.add({.op = "Identity", .inputs = {source}}));
        value = identity->output(0);
      }
      return function_body::import_edge(value);
    }
    if (recomputes_ && is_of_forward(source) && is_recomputable(*source.node)) {
      TROUPE_TRY(recompute(*source.node));
      return edge{copies_.at(source.node), source.index};
    }
    return function_body::import_edge(source);
  }

  // Random numbers and effects must not be repeated, and the value of a variable is the one that
  // was read. A saved list could not be changed in place, so a list is recomputed or its user is
  // not.
  bool is_recomputable(const node& candidate) const {
    if (copies_.contains(&candidate))
      return true;
    auto [entry, is_new] = recomputable_.emplace(&candidate, false);
    if (is_new)
      entry->second = check_recomputable(candidate);
    return entry->second;
  }

  bool check_recomputable(const node& candidate) const {
    constexpr auto not_repeatable =
        effect::stateful | effect::random | effect::blocking | effect::must_be_fed;
    auto calls_functions = runs_functions(candidate.op());
    if ((!calls_functions && has(candidate.op().effects, not_repeatable)) ||
        candidate.op().state_kind != resource::none || candidate.inputs().empty() ||
        (calls_functions && !functions_are_recomputable(candidate)))
      return false;
    for (int i = 0; i < candidate.outputs(); ++i)
      if (candidate.output_is_ref(i) && !calls_functions)
        return false;
    if (!std::ranges::all_of(candidate.inputs(), [&](const edge& input) {
          return input.type() != dtype::variant || is_recomputable(*input.node);
        }))
      return false;
    return std::ranges::none_of(accesses_of(candidate), [&](const state_access& access) {
      return (!access.is_read && !calls_functions) || updated_.contains(access.state);
    });
  }

  // Copies a node and the recomputable nodes that it depends on, in topological order.
  status recompute(const node& target) {
    std::vector<const node*> needed, pending{&target};
    std::set<const node*> seen;
    while (!pending.empty()) {
      const auto* dependency = pending.back();
      pending.pop_back();
      if (copies_.contains(dependency) || !is_recomputable(*dependency) ||
          !seen.insert(dependency).second)
        continue;
      needed.push_back(dependency);
      for (const auto& input : dependency->inputs())
        pending.push_back(input.node);
    }
    std::ranges::sort(needed, {}, &node::id);
    for (const auto* dependency : needed) {
      std::vector<edge> inputs;
      for (const auto& input : dependency->inputs()) {
        TROUPE_ASSIGN(auto input_here, import_edge(input));
        inputs.push_back(input_here);
      }
      status outcome;
      auto spec = clone_with_values(*dependency, std::move(inputs), outcome);
      TROUPE_TRY(std::move(outcome));
      if (find(concat(scope(), spec.name)))
        spec.name.clear();
      TROUPE_ASSIGN(copies_[dependency], add_here(std::move(spec)));
    }
    return {};
  }

  void replace_by_fill(node_spec& spec) {
    auto template_value = spec.inputs[0];
    if (!numbers.contains(template_value.type()))
      return;
    edge dims_edge;
    if (template_value.dims().fully_known()) {
      auto extents = template_value.dims().extents();
      dims_edge = add_or_record_error({.op = "Const",
                                       .attrs = {{"value", tensor::vector(std::vector<int64_t>(
                                                               extents.begin(), extents.end()))},
                                                 {"dtype", dtype::i64}}});
    } else {
      dims_edge = forward_.add_or_record_error(
          {.op = "Shape", .inputs = {template_value}, .attrs = {{"out_type", dtype::i64}}});
    }
    auto number = add_or_record_error(
        {.op = "Const",
         .attrs = {{"value", tensor::scalar(spec.op == "OnesLike" ? 1.0f : 0.0f)},
                   {"dtype", dtype::f32}}});
    auto value =
        template_value.type() == dtype::f32
            ? number
            : add_or_record_error(
                  {.op = "Cast", .inputs = {number}, .attrs = {{"DstT", template_value.type()}}});
    spec.op = "Fill";
    spec.inputs = {dims_edge, value};
  }

  graph& forward_;
  const bool recomputes_;
  std::map<const node*, node*> copies_;              // recomputed nodes
  mutable std::map<const node*, bool> recomputable_; // results of is_recomputable()
  std::set<const node*> updated_;                    // variables that the forward function updates
  std::map<std::pair<const node*, int>, edge> read_; // values read of variables
};

} // namespace

result<function_gradients::forward_backward> function_gradients::split_forward_backward(
    const function& original, const std::vector<size_t>& result_indices,
    const std::vector<size_t>& argument_indices, const std::function<bool(size_t)>& stays,
    bool recomputes) {
  forward_backward parts{copy_body(original), nullptr, {}, {}};
  auto& forward = parts.forward;
  std::vector<edge> ys, xs;
  auto body = std::make_unique<backward_body>(*forward.body, recomputes);
  gradient_options options{.of_ops = of_ops_};
  for (auto result_index : result_indices) {
    ys.push_back(forward.results[result_index]);
    // In a loop, a value may have another shape in the next iteration.
    const auto& result = forward.results[result_index];
    auto dims = result_index < original.arguments() && original.passed_through(result_index) < 0 &&
                        argument_indices == result_indices
                    ? join_shapes(result.dims(), forward.arguments[result_index].dims())
                    : result.dims();
    options.weights.push_back(body->add_argument(result.type(), dims));
  }
  for (auto position : argument_indices)
    xs.push_back(forward.arguments[position]);
  auto context = concat("function '", original.name(), "'");
  auto gradients = differentiate(*forward.body, ys, xs, options, *this, [&](node& reached_node) {
    return body->node_to_differentiate(reached_node);
  });
  if (!gradients)
    return gradients.status().with_context(context);
  for (size_t i = 0; i < argument_indices.size(); ++i)
    if (!(*gradients)[i])
      (*gradients)[i] = forward.body->add_or_record_error({.op = "ZerosLike", .inputs = {xs[i]}});
  if (auto noted = forward.body->take_error(); !noted)
    return std::move(noted).with_context(context);
  for (auto& gradient : *gradients) {
    TROUPE_ASSIGN(gradient, body->localize(gradient));
  }
  auto captured = body->captured();
  TROUPE_ASSIGN(
      parts.backward,
      function_body::finish(std::move(body), concat(original.name(), "_backward"), *gradients));
  for (const auto& source_edge : captured) {
    auto argument = find_edge(forward.arguments, source_edge);
    auto index = static_cast<size_t>(argument - forward.arguments.begin());
    if (argument != forward.arguments.end() && stays(index)) {
      parts.needs.push_back({true, index});
      continue;
    }
    parts.needs.push_back({false, parts.saved.size()});
    parts.saved.push_back(source_edge);
  }
  return parts;
}

} // namespace troupe
