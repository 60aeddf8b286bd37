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

/// A node to look at, and the functions that it is in.
struct pending_node {
  NodeDef node;
  std::vector<std::string> within = {};
};

class inliner {
public:
  inliner(GraphDef& in, const registry& ops, std::string_view whole)
      : graph_(in), functions_(in.library(), ops), whole_(whole) {}

  result<inlined_calls> run() {
    if (std::ranges::none_of(graph_.node(),
                             [this](const auto& each) { return functions_.called_by(each).body; }))
      return std::move(calls_);
    google::protobuf::RepeatedPtrField<NodeDef> given;
    given.Swap(graph_.mutable_node());
    for (auto& each : given)
      take({std::move(each)});
    for (; !pending_.empty(); pending_.pop_front())
      if (auto done = expand(pending_.front()); !done)
        return within(pending_.front().node, std::move(done));
    for (auto& each : *graph_.mutable_node())
      for (auto& input : *each.mutable_input()) {
        auto found = behind_calls(input);
        if (!found)
          return within(each, found.status());
        input = *std::move(found);
      }
    for (auto& [name, call] : calls_)
      for (auto& output : call.outputs) {
        TROUPE_ASSIGN(output, behind_calls(output));
      }
    return std::move(calls_);
  }

private:
  static status within(const NodeDef& node, status why) {
    return std::move(why).within(concat(node.op(), " '", node.name(), '\''));
  }

  void take(pending_node next) {
    if (functions_.callee(next.node) || (!whole_.empty() && next.node.name() == whole_)) {
      pending_.push_back(std::move(next));
      return;
    }
    keep_call(next.node);
    *graph_.add_node() = std::move(next.node);
  }

  // Of a call that stays one: ours have an op, and say themselves that they do.
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
    for (const auto& each : after)
      node.add_input("^" + each);
    take({std::move(node)});
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
    function_scope in{call.node, called, functions_};
    TROUPE_TRY(in.bind());
    if (!in.before().empty())
      add("NoOp", in.begin(), call.node.device(), in.before());
    auto nested = call.within;
    nested.push_back(name);
    std::vector<std::string> effects;
    for (const auto& [key, node] : called.body->control_ret())
      effects.push_back(in.inner(node));
    for (const auto& each : called.body->node_def()) {
      auto copy = each;
      if (auto done = in.translate(copy); !done)
        return within(each, std::move(done)).within(name);
      if (functions_.has_effect(each))
        effects.push_back(copy.name());
      take({std::move(copy), nested});
    }
    std::ranges::sort(effects);
    if (const auto& body = called.body->node_def();
        !effects.empty() &&
        std::ranges::any_of(body, [](auto& each) { return flow_of(each.op()) != flow::plain; })) {
      // They may be dead, or in loops, which have run when they are left.
      in.leave_loops(effects);
      add("ControlTrigger", in.inner("_effects"), call.node.device(), effects);
      effects = {in.inner("_effects")};
    }
    return finish(in, effects);
  }

  // Notes where the outputs of a call come from. They wait for the effects of the function.
  status finish(const function_scope& in, const std::vector<std::string>& effects) {
    const auto& device = in.call().device();
    TROUPE_ASSIGN(auto outputs, in.outputs());
    inlined_call made{{}, in.inner("_end")};
    auto last = effects;
    for (const auto& from : outputs) {
      TROUPE_ASSIGN(auto producer, input_name::parse(from));
      last.emplace_back(producer.node);
      made.outputs.push_back(effects.empty() ? from
                                             : in.inner(concat("_output_", made.outputs.size())));
      if (!effects.empty())
        add("Identity", made.outputs.back(), device, effects, from);
    }
    if (!in.before().empty())
      last.push_back(in.begin());
    add("NoOp", made.end, device, last);
    if (!calls_.emplace(in.call().name(), std::move(made)).second)
      return failure(error_kind::already_exists, "the name is used twice");
    return {};
  }

  // Follows outputs of calls, which may be outputs of further calls, to the node behind them.
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
  const std::string_view whole_;
  std::deque<pending_node> pending_;
  inlined_calls calls_;
  size_t copies_ = 0;
};

} // namespace

result<inlined_calls> inline_calls(GraphDef& in, const registry& ops, std::string_view whole) {
  return inliner{in, ops, whole}.run();
}

} // namespace troupe::graph_def
