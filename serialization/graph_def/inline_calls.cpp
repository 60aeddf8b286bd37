#include "troupe/serialization/graph_def/inline_calls.hpp"

#include "troupe/serialization/graph_def/flow_graph.hpp"
#include "troupe/serialization/graph_def/function_scope.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

#include <algorithm>
#include <deque>

namespace troupe::graph_def {
namespace {

constexpr size_t max_copies = 1'000'000;
constexpr size_t deepest = 64;

/// A node to process, and the functions that contain it.
struct pending_node {
  NodeDef node;
  std::vector<std::string> within = {};
};

class inliner {
public:
  inliner(GraphDef& graph, const registry& ops, std::string_view inlined_call_name)
      : graph_(graph), functions_(graph.library(), ops), inlined_call_name_(inlined_call_name) {}

  result<inlined_calls> run() {
    if (std::ranges::none_of(graph_.node(), [this](const auto& node_def) {
          return functions_.called_by(node_def).body;
        }))
      return std::move(calls_);
    google::protobuf::RepeatedPtrField<NodeDef> original;
    original.Swap(graph_.mutable_node());
    for (auto& node_def : original)
      add_node({std::move(node_def)});
    for (; !pending_.empty(); pending_.pop_front())
      if (auto outcome = expand(pending_.front()); !outcome)
        return within(pending_.front().node, std::move(outcome));
    for (auto& node_def : *graph_.mutable_node())
      for (auto& input : *node_def.mutable_input()) {
        auto resolved = behind_calls(input);
        if (!resolved)
          return within(node_def, resolved.status());
        input = *std::move(resolved);
      }
    for (auto& [name, call] : calls_)
      for (auto& output : call.outputs) {
        TROUPE_ASSIGN(output, behind_calls(output));
      }
    return std::move(calls_);
  }

private:
  static status within(const NodeDef& node, status reason) {
    return std::move(reason).with_context(concat(node.op(), " '", node.name(), '\''));
  }

  void add_node(pending_node next) {
    if (functions_.callee(next.node) ||
        (!inlined_call_name_.empty() && next.node.name() == inlined_call_name_)) {
      pending_.push_back(std::move(next));
      return;
    }
    keep_call(next.node);
    *graph_.add_node() = std::move(next.node);
  }

  // Completes a call that is not inlined: it becomes an op of Troupe, with an explicit _noinline.
  void keep_call(NodeDef& node) const {
    auto called = functions_.called_by(node);
    if (!called)
      return;
    auto noinline = function_library::is_noinline(node, called);
    if (!called.partitioned)
      give_op(node);
    if (noinline)
      (*node.mutable_attr())[noinline_attr].set_b(true);
  }

  void give_op(NodeDef& node) const {
    NameAttrList f;
    f.set_name(node.op());
    f.mutable_attr()->swap(*node.mutable_attr());
    node.set_op(functions_.has_effect(node) ? "StatefulPartitionedCall" : "PartitionedCall");
    *(*node.mutable_attr())["f"].mutable_func() = std::move(f);
  }

  void add(const char* op, std::string name, const std::string& device,
           const std::vector<std::string>& after, const std::string& input = {}) {
    NodeDef node;
    node.set_op(op);
    node.set_name(std::move(name));
    node.set_device(device);
    if (!input.empty())
      node.add_input(input);
    for (const auto& earlier : after)
      node.add_input("^" + earlier);
    add_node({std::move(node)});
  }

  status expand(const pending_node& call) {
    auto called = functions_.called_by(call.node);
    const auto& name = called.body->signature().name();
    if (std::ranges::count(call.within, name) > 0)
      return failure(error_kind::unimplemented, "the function ", name, " calls itself");
    if (call.within.size() >= deepest)
      return failure(error_kind::unimplemented, "calls are nested more than ", deepest, " deep");
    copies_ += static_cast<size_t>(called.body->node_def_size()) + 2;
    if (copies_ > max_copies)
      return failure(error_kind::resource_exhausted, "calls of functions become more than ",
                     max_copies, " nodes");
    function_scope scope{call.node, called, functions_};
    TROUPE_TRY(scope.bind());
    if (!scope.before().empty())
      add("NoOp", scope.begin(), call.node.device(), scope.before());
    auto nested = call.within;
    nested.push_back(name);
    std::vector<std::string> effects;
    for (const auto& [key, node] : called.body->control_ret())
      effects.push_back(scope.inner(node));
    for (const auto& node_def : called.body->node_def()) {
      auto copy = node_def;
      if (auto outcome = scope.translate(copy); !outcome)
        return within(node_def, std::move(outcome)).with_context(name);
      if (functions_.has_effect(node_def))
        effects.push_back(copy.name());
      add_node({std::move(copy), nested});
    }
    std::ranges::sort(effects);
    if (const auto& body = called.body->node_def();
        !effects.empty() && std::ranges::any_of(body, [](auto& tested) {
          return flow_of(tested.op()) != flow::plain;
        })) {
      // They may be dead, or in loops: the loops' exits replace them.
      scope.leave_loops(effects);
      add("ControlTrigger", scope.inner("_effects"), call.node.device(), effects);
      effects = {scope.inner("_effects")};
    }
    return finish(scope, effects);
  }

  // Sets the outputs of a call. They wait for the effects of the function.
  status finish(const function_scope& scope, const std::vector<std::string>& effects) {
    const auto& device = scope.call().device();
    TROUPE_ASSIGN(auto outputs, scope.outputs());
    inlined_call call{{}, scope.inner("_end")};
    auto end_inputs = effects;
    for (const auto& from : outputs) {
      TROUPE_ASSIGN(auto producer, input_name::parse(from));
      end_inputs.emplace_back(producer.node);
      call.outputs.push_back(
          effects.empty() ? from : scope.inner(concat("_output_", call.outputs.size())));
      if (!effects.empty())
        add("Identity", call.outputs.back(), device, effects, from);
    }
    if (!scope.before().empty())
      end_inputs.push_back(scope.begin());
    add("NoOp", call.end, device, end_inputs);
    if (!calls_.emplace(scope.call().name(), std::move(call)).second)
      return failure(error_kind::already_exists, "the name is used twice");
    return {};
  }

  // Resolves outputs of calls, which may be outputs of further calls.
  result<std::string> behind_calls(std::string text) const {
    for (size_t steps = 0; steps <= calls_.size(); ++steps) {
      TROUPE_ASSIGN(auto name, input_name::parse(text));
      auto call = calls_.find(name.node);
      if (call == calls_.end())
        return text;
      if (name.control)
        return "^" + call->second.end;
      const auto& outputs = call->second.outputs;
      if (static_cast<size_t>(name.output) >= outputs.size())
        return invalid("there is no output '", text, "', the function has ", outputs.size());
      text = std::string{outputs[static_cast<size_t>(name.output)]};
    }
    return invalid("'", text, "': the output of a function is its own input");
  }

  GraphDef& graph_;
  function_library functions_;
  const std::string_view inlined_call_name_;
  std::deque<pending_node> pending_;
  inlined_calls calls_;
  size_t copies_ = 0;
};

} // namespace

result<inlined_calls> inline_calls(GraphDef& graph, const registry& ops,
                                   std::string_view inlined_call_name) {
  return inliner{graph, ops, inlined_call_name}.run();
}

} // namespace troupe::graph_def
