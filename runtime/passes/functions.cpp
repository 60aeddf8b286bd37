#include "troupe/runtime/passes/functions.hpp"

#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace troupe {
namespace {

constexpr size_t max_nodes = 1'000'000;

// Returns the function that the node will run, if it is known before the step runs.
const function_value* known_callee(const node& caller, const std::vector<edge>& inputs) {
  if (!runs_functions(caller.op()) || caller.op().calls == call_kind::while_true)
    return nullptr;
  auto functions = functions_of(caller);
  if (caller.op().calls == call_kind::once)
    return caller.attr<bool>("_noinline") ? nullptr : functions.front();
  const auto* selector = constant_value(inputs[0]);
  if (!selector || selector->rank() != 0)
    return nullptr;
  if (caller.op().calls == call_kind::if_true)
    return selector->type() == dtype::boolean ? functions[*selector->data<bool>() ? 0 : 1]
                                              : nullptr;
  auto branch_index = *selector->data<int32_t>();
  auto last_index = static_cast<int32_t>(functions.size()) - 1;
  return functions[static_cast<size_t>(
      branch_index < 0 || branch_index > last_index ? last_index : branch_index)];
}

const function_value* callee_to_inline(const node& caller, const std::vector<edge>& inputs) {
  const auto* callee = known_callee(caller, inputs);
  return callee && callee->body && !calls_itself(callee->body->body(), callee->name) ? callee
                                                                                     : nullptr;
}

// Returns whether passes must not drop or repeat the node, and must keep its order.
bool has_effects_or_order(const node& candidate) {
  return has(candidate.op().effects, effect::stateful | effect::random | effect::blocking) ||
         !is_pure(candidate);
}

// Copies a graph with the nodes of functions in place of their calls.
class inliner {
public:
  explicit inliner(step_graph& step)
      : step_(step), inlined_(std::make_unique<graph>(step.nodes->ops())) {}

  status run() {
    copy_map copies;
    for (const auto& source_node : step_.nodes->nodes())
      used_names_.insert(source_node->name());
    for (const auto& source_node : step_.nodes->nodes())
      TROUPE_TRY(copy(*source_node, source_node->name(), copies));
    for (auto*& target : step_.targets)
      target = copies.last.at(target);
    step_.nodes = std::move(inlined_);
    return {};
  }

private:
  // Maps the nodes of a graph, or of one call's function, to their copies in the new graph.
  struct copy_map {
    std::map<std::pair<const node*, int>, edge> edges;
    std::map<const node*, node*> last; // the node that runs last of those that replace a node
    std::set<const node*> calls_with_effects; // inlined calls
    std::vector<node*> before;                // the predecessors of all nodes with effects
    std::string device;
    std::map<const node*, std::string> names; // the new names of a function's nodes
  };

  // Returns a name that no node has: the original nodes keep their names, so that they are found.
  std::string free_name(std::string name) {
    while (!used_names_.insert(name).second)
      name += '_';
    return name;
  }

  status copy(const node& source, const std::string& name, copy_map& copies) {
    if (inlined_->nodes().size() >= max_nodes)
      return failure(error_kind::resource_exhausted, source.description(),
                     ": inlining nested calls makes more than ", max_nodes, " nodes");
    std::vector<edge> inputs;
    for (const auto& input : source.inputs())
      inputs.push_back(copies.edges.at({input.node, input.index}));
    std::vector<node*> controls;
    for (auto* before : source.controls())
      controls.push_back(copies.last.at(before));
    // A reader of a call's results runs after all effects of the call.
    for (const auto& input : source.inputs())
      if (copies.calls_with_effects.contains(input.node))
        controls.push_back(copies.last.at(input.node));
    if (has_effects_or_order(source) || runs_functions(source.op()))
      controls.insert(controls.end(), copies.before.begin(), copies.before.end());
    sort_controls(controls);
    if (const auto* callee = callee_to_inline(source, inputs))
      return expand(source, *callee, name + '/', std::move(inputs), std::move(controls), copies);
    auto* copied = inlined_->add_copy(source, name, std::move(inputs), std::move(controls));
    rewriter::set_default_device(*copied, copies.device);
    rename_groups(*copied, source.graph(), copies);
    record_effects(*copied);
    copies.last[&source] = copied;
    for (int i = 0; i < source.outputs(); ++i)
      copies.edges[{&source, i}] = {copied, i};
    return {};
  }

  // Groups are named after nodes. Renames the groups that are named after nodes of a function.
  static void rename_groups(node& target, const graph& source, const copy_map& copies) {
    std::vector<std::string> groups;
    for (auto group : colocated_with(target)) {
      auto new_name = copies.names.find(source.find(group));
      groups.emplace_back(new_name == copies.names.end() ? group : new_name->second);
    }
    if (!groups.empty())
      rewriter::set_colocation(target, groups);
  }

  status expand(const node& call, const function_value& callee, const std::string& prefix,
                std::vector<edge> inputs, std::vector<node*> controls, copy_map& outer) {
    const auto& body = *callee.body;
    std::vector<edge> arguments(inputs.begin() + first_argument(call.op()), inputs.end());
    copy_map inner;
    inner.device = call.device();
    if (inner.device.empty())
      inner.device = outer.device;
    // The effects of the function run after all effects that the call's inputs depend on.
    for (const auto& argument : arguments)
      if (after_effects_[argument.node->index()])
        controls.push_back(argument.node);
    sort_controls(controls);
    inner.before = std::move(controls);
    for (size_t i = 0; i < body.arguments(); ++i) {
      inner.edges[{&body.argument(i), 0}] = arguments[i];
      inner.last[&body.argument(i)] = arguments[i].node;
    }
    std::vector<edge> results(body.results());
    std::vector<node*> effects;
    for (size_t i = 0; i < body.results(); ++i)
      if (auto argument = body.passed_through(i); argument >= 0)
        results[i] = arguments[static_cast<size_t>(argument)];
    for (const auto& body_node : body.body().nodes())
      if (!inner.last.contains(body_node.get()) && body.runs(*body_node) &&
          &body_node->op() != &internal_ops::fetch)
        inner.names[body_node.get()] = free_name(prefix + body_node->name());
    for (const auto& body_node : body.body().nodes()) {
      if (inner.last.contains(body_node.get()) || !body.runs(*body_node))
        continue; // an argument, or not needed
      if (&body_node->op() == &internal_ops::fetch) {
        const auto& source = body_node->inputs()[0];
        results[static_cast<size_t>(body_node->attr<int64_t>("index"))] =
            inner.edges.at({source.node, source.index});
        continue;
      }
      TROUPE_TRY(copy(*body_node, inner.names.at(body_node.get()), inner));
      if (has_effects_or_order(*body_node) || runs_functions(body_node->op()))
        effects.push_back(inner.last.at(body_node.get()));
    }
    for (int i = 0; i < call.outputs(); ++i)
      outer.edges[{&call, i}] = results[static_cast<size_t>(i)];
    return end_call(call, prefix, std::move(effects), inner.before, results, outer);
  }

  // Adds a node that runs after all effects of the call, for nodes that run after the call.
  status end_call(const node& call, const std::string& prefix, std::vector<node*> effects,
                  const std::vector<node*>& before, const std::vector<edge>& results,
                  copy_map& outer) {
    if (!effects.empty())
      outer.calls_with_effects.insert(&call);
    effects.insert(effects.end(), before.begin(), before.end());
    for (const auto& result_edge : results)
      effects.push_back(result_edge.node);
    sort_controls(effects);
    std::erase_if(effects, [](const node* predecessor) {
      return predecessor->op().state_kind != resource::none ||
             has(predecessor->op().effects, effect::must_be_fed);
    });
    auto end_node = inlined_->add({.op = "NoOp",
                                   .name = free_name(prefix + "_end"),
                                   .controls = std::move(effects),
                                   .device = call.device().empty() ? outer.device : call.device(),
                                   .where = call.where()});
    if (!end_node)
      return with_node_context(call, end_node.status());
    record_effects(**end_node);
    outer.last[&call] = *end_node;
    return {};
  }

  void record_effects(const node& added) {
    auto is_after_effect = [this](const node* before) { return after_effects_[before->index()]; };
    after_effects_.push_back((added.op().state_kind == resource::none &&
                              has(added.op().effects, effect::stateful | effect::blocking)) ||
                             std::ranges::any_of(added.inputs(), is_after_effect, &edge::node) ||
                             std::ranges::any_of(added.controls(), is_after_effect));
  }

  step_graph& step_;
  std::unique_ptr<graph> inlined_;
  std::unordered_set<std::string> used_names_; // of the original nodes and of the new nodes
  std::vector<bool> after_effects_;            // by node id: has an effect, or depends on one
};

bool runs_any(const graph& source) {
  return std::ranges::any_of(source.nodes(),
                             [](const auto& candidate) { return runs_functions(candidate->op()); });
}

} // namespace

status inline_calls(step_graph& step) {
  auto is_inlinable = [](const auto& candidate) {
    return callee_to_inline(*candidate, candidate->inputs()) != nullptr;
  };
  if (std::ranges::none_of(step.nodes->nodes(), is_inlinable))
    return {};
  return inliner{step}.run();
}

status change_functions(step_graph& step, const frame_rule& is_frame,
                        const std::function<status(step_graph&)>& change) {
  if (!runs_any(*step.nodes))
    return {};
  // The keys keep the original functions alive, so that no other function gets the address of one.
  std::map<std::shared_ptr<const function>, std::shared_ptr<const function>> changed;
  auto change_value = [&](function_value& value) -> status {
    if (!value.body)
      return {};
    auto& replacement = changed[value.body];
    if (!replacement) {
      const auto& body = value.body->body();
      step_graph copy{std::make_unique<graph>(body.ops()), {}};
      std::vector<node*> copies(body.nodes().size());
      for (const auto& body_node : body.nodes()) {
        if (!value.body->runs(*body_node))
          continue;
        std::vector<edge> inputs;
        for (const auto& input : body_node->inputs())
          inputs.push_back({copies[input.node->index()], input.index});
        std::vector<node*> controls;
        for (auto* before : body_node->controls())
          controls.push_back(copies[before->index()]);
        auto*& added = copies[body_node->index()];
        added = copy.nodes->add_copy(*body_node, std::move(inputs), std::move(controls));
        auto is_argument = has(body_node->op().effects, effect::must_be_fed) ||
                           body_node->op().state_kind != resource::none;
        // Arguments are kept even if they are not read, and so are effects.
        if (is_argument || has_effects_or_order(*body_node))
          copy.targets.push_back(added);
      }
      TROUPE_TRY(change(copy).with_context(concat("function '", value.name, "'")));
      TROUPE_ASSIGN(replacement, function::make(value.name, std::move(copy.nodes),
                                                value.body->passed_through()));
    }
    value.body = replacement;
    return {};
  };
  for (const auto& caller : step.nodes->nodes())
    if (runs_functions(caller->op()) && !is_frame(*caller))
      TROUPE_TRY(rewriter::change_functions(*caller, change_value));
  return {};
}

} // namespace troupe
