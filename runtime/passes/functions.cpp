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

// The function that stands for the node, if it is known before the step runs.
const function_value* callee(const node& one, const std::vector<edge>& inputs) {
  if (!runs_functions(one.op()) || one.op().calls == calling::while_true)
    return nullptr;
  auto all = functions_of(one);
  if (one.op().calls == calling::once)
    return one.attr<bool>("_noinline") ? nullptr : all.front();
  const auto* which = constant_value(inputs[0]);
  if (!which || which->rank() != 0)
    return nullptr;
  if (one.op().calls == calling::if_true)
    return which->type() == dtype::boolean ? all[*which->data<bool>() ? 0 : 1] : nullptr;
  auto at = *which->data<int32_t>();
  auto last = static_cast<int32_t>(all.size()) - 1;
  return all[static_cast<size_t>(at < 0 || at > last ? last : at)];
}

const function_value* inlined(const node& one, const std::vector<edge>& inputs) {
  const auto* found = callee(one, inputs);
  return found && found->body && !calls_itself(found->body->body(), found->name) ? found : nullptr;
}

// What no pass may drop or repeat, and what comes after what is before it.
bool acts(const node& one) {
  return has(one.op().effects, effect::stateful | effect::random | effect::blocking) ||
         !is_pure(one);
}

// Copies a graph, with the nodes of functions instead of their calls.
class inliner {
public:
  explicit inliner(step_graph& of) : of_(of), made_(std::make_unique<graph>(of.nodes->ops())) {}

  status run() {
    auto copies = frame{};
    for (const auto& one : of_.nodes->nodes())
      taken_.insert(one->name());
    for (const auto& one : of_.nodes->nodes())
      TROUPE_TRY(copy(*one, one->name(), copies));
    for (auto*& target : of_.targets)
      target = copies.last.at(target);
    of_.nodes = std::move(made_);
    return {};
  }

private:
  // What stands for nodes of one graph in the new one.
  struct frame {
    std::map<std::pair<const node*, int>, edge> edges;
    std::map<const node*, node*> last; // what must have run when the node has run
    std::set<const node*> acted;       // calls that are gone, and that had effects
    std::vector<node*> before;         // what all nodes with effects come after
    std::string device;
    std::map<const node*, std::string> names; // of a function's nodes
  };

  // Others may have such a name already, and find what they need by it.
  std::string free_name(std::string name) {
    while (!taken_.insert(name).second)
      name += '_';
    return name;
  }

  status copy(const node& one, const std::string& name, frame& in) {
    if (made_->nodes().size() >= max_nodes)
      return failure(error_kind::resource_exhausted, one.description(),
                     ": functions within functions make more than ", max_nodes, " nodes");
    std::vector<edge> inputs;
    for (const auto& input : one.inputs())
      inputs.push_back(in.edges.at({input.node, input.index}));
    std::vector<node*> controls;
    for (auto* before : one.controls())
      controls.push_back(in.last.at(before));
    // Who reads what a call gives comes after all that the call does.
    for (const auto& input : one.inputs())
      if (in.acted.contains(input.node))
        controls.push_back(in.last.at(input.node));
    if (acts(one) || runs_functions(one.op()))
      controls.insert(controls.end(), in.before.begin(), in.before.end());
    sort_controls(controls);
    if (const auto* called = inlined(one, inputs))
      return expand(one, *called, name + '/', std::move(inputs), std::move(controls), in);
    auto* made = made_->add_copy(one, name, std::move(inputs), std::move(controls));
    rewriter::set_default_device(*made, in.device);
    rename_groups(*made, one.graph(), in);
    note(*made);
    in.last[&one] = made;
    for (int i = 0; i < one.outputs(); ++i)
      in.edges[{&one, i}] = {made, i};
    return {};
  }

  // Groups are named after nodes, those of a function's nodes after what stands for these here.
  static void rename_groups(node& made, const graph& from, const frame& in) {
    std::vector<std::string> groups;
    for (auto group : colocated_with(made)) {
      auto renamed = in.names.find(from.find(group));
      groups.emplace_back(renamed == in.names.end() ? group : renamed->second);
    }
    if (!groups.empty())
      rewriter::set_colocation(made, groups);
  }

  status expand(const node& call, const function_value& called, const std::string& inner,
                std::vector<edge> inputs, std::vector<node*> controls, frame& around) {
    const auto& body = *called.body;
    std::vector<edge> arguments(inputs.begin() + first_argument(call.op()), inputs.end());
    frame in;
    in.device = call.device();
    if (in.device.empty())
      in.device = around.device;
    // As the call would, what its function does comes after effects that its inputs depend on.
    for (const auto& argument : arguments)
      if (after_effects_[argument.node->index()])
        controls.push_back(argument.node);
    sort_controls(controls);
    in.before = std::move(controls);
    for (size_t i = 0; i < body.arguments(); ++i) {
      in.edges[{&body.argument(i), 0}] = arguments[i];
      in.last[&body.argument(i)] = arguments[i].node;
    }
    std::vector<edge> results(body.results());
    std::vector<node*> effects;
    for (size_t i = 0; i < body.results(); ++i)
      if (auto argument = body.handed_on(i); argument >= 0)
        results[i] = arguments[static_cast<size_t>(argument)];
    for (const auto& one : body.body().nodes())
      if (!in.last.contains(one.get()) && body.runs(*one) && &one->op() != &internal_ops::fetch)
        in.names[one.get()] = free_name(inner + one->name());
    for (const auto& one : body.body().nodes()) {
      if (in.last.contains(one.get()) || !body.runs(*one))
        continue; // an argument, or in vain
      if (&one->op() == &internal_ops::fetch) {
        const auto& from = one->inputs()[0];
        results[static_cast<size_t>(one->attr<int64_t>("index"))] =
            in.edges.at({from.node, from.index});
        continue;
      }
      TROUPE_TRY(copy(*one, in.names.at(one.get()), in));
      if (acts(*one) || runs_functions(one->op()))
        effects.push_back(in.last.at(one.get()));
    }
    for (int i = 0; i < call.outputs(); ++i)
      around.edges[{&call, i}] = results[static_cast<size_t>(i)];
    return end_call(call, inner, std::move(effects), in.before, results, around);
  }

  // Who comes after the call comes after all that it does.
  status end_call(const node& call, const std::string& inner, std::vector<node*> effects,
                  const std::vector<node*>& before, const std::vector<edge>& results,
                  frame& around) {
    if (!effects.empty())
      around.acted.insert(&call);
    effects.insert(effects.end(), before.begin(), before.end());
    for (const auto& one : results)
      effects.push_back(one.node);
    sort_controls(effects);
    std::erase_if(effects, [](const node* one) {
      return one->op().makes != resource::none || has(one->op().effects, effect::fed);
    });
    auto end = made_->add({.op = "NoOp",
                           .name = free_name(inner + "_end"),
                           .controls = std::move(effects),
                           .device = call.device().empty() ? around.device : call.device(),
                           .where = call.where()});
    if (!end)
      return within(call, end.status());
    note(**end);
    around.last[&call] = *end;
    return {};
  }

  void note(const node& added) {
    auto is_after = [this](const node* before) { return after_effects_[before->index()]; };
    after_effects_.push_back((added.op().makes == resource::none &&
                              has(added.op().effects, effect::stateful | effect::blocking)) ||
                             std::ranges::any_of(added.inputs(), is_after, &edge::node) ||
                             std::ranges::any_of(added.controls(), is_after));
  }

  step_graph& of_;
  std::unique_ptr<graph> made_;
  std::unordered_set<std::string> taken_; // names: of nodes from before, and of new ones
  std::vector<bool> after_effects_;       // by node id: has an effect, or depends on one
};

bool runs_any(const graph& of) {
  return std::ranges::any_of(of.nodes(), [](const auto& one) { return runs_functions(one->op()); });
}

} // namespace

status inline_calls(step_graph& of) {
  auto can = [](const auto& one) { return inlined(*one, one->inputs()) != nullptr; };
  if (std::ranges::none_of(of.nodes->nodes(), can))
    return {};
  return inliner{of}.run();
}

status change_functions(step_graph& of, const frame_rule& is_frame,
                        const std::function<status(step_graph&)>& change) {
  if (!runs_any(*of.nodes))
    return {};
  // By those from before, which live on here: another one could get the address of one that died.
  std::map<std::shared_ptr<const function>, std::shared_ptr<const function>> changed;
  auto change_one = [&](function_value& value) -> status {
    if (!value.body)
      return {};
    auto& made = changed[value.body];
    if (!made) {
      const auto& body = value.body->body();
      step_graph copy{std::make_unique<graph>(body.ops()), {}};
      std::vector<node*> copies(body.nodes().size());
      for (const auto& one : body.nodes()) {
        if (!value.body->runs(*one))
          continue;
        std::vector<edge> inputs;
        for (const auto& input : one->inputs())
          inputs.push_back({copies[input.node->index()], input.index});
        std::vector<node*> controls;
        for (auto* before : one->controls())
          controls.push_back(copies[before->index()]);
        auto*& added = copies[one->index()];
        added = copy.nodes->add_copy(*one, std::move(inputs), std::move(controls));
        auto is_argument = has(one->op().effects, effect::fed) || one->op().makes != resource::none;
        // All arguments stay, read or not, and all effects.
        if (is_argument || acts(*one))
          copy.targets.push_back(added);
      }
      TROUPE_TRY(change(copy).within(concat("function '", value.name, "'")));
      TROUPE_ASSIGN(made,
                    function::make(value.name, std::move(copy.nodes), value.body->handed_on()));
    }
    value.body = made;
    return {};
  };
  for (const auto& one : of.nodes->nodes())
    if (runs_functions(one->op()) && !is_frame(*one))
      TROUPE_TRY(rewriter::change_functions(*one, change_one));
  return {};
}

} // namespace troupe
