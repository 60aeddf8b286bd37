#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe {
namespace {

constexpr auto impure = effect::stateful | effect::random | effect::blocking | effect::must_be_fed;

// Returns the type attribute of a node's f32 data that also allows `type`, or an empty name.
std::string_view data_attr(const node& node, dtype type) {
  if (has(node.op().effects, impure) || node.op().state_kind != resource::none)
    return {};
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    if (node.input_is_ref(i))
      return {};
    if (node.inputs()[static_cast<size_t>(i)].type() != dtype::f32)
      continue;
    const auto* type_attr = node.op().find_attr(node.input_port(i).type);
    bool is_allowed =
        type_attr && type_attr->kind == attr_kind::type && type_attr->allowed.contains(type);
    return is_allowed ? type_attr->name : std::string_view{};
  }
  return {};
}

// The decision for a node. All decisions are made before the first change.
struct node_decision {
  std::string_view attr;     // the type attribute of its data; empty: the node is not changed
  std::vector<bool> outputs; // whether an output has this type
  bool reached = false;      // has 16-bit inputs, or produces 16-bit values
  bool wanted = false;       // it or one of its readers benefits from 16 bits

  bool chosen() const { return reached && wanted; }
};

class precision_mixer {
public:
  precision_mixer(step_graph& step, dtype type) : rewriter_(step), type_(type) {}

  void run() {
    choose();
    find_updates();
    for (auto* node : rewriter_.nodes()) {
      rewriter_.refresh(*node);
      for (const auto& access : accesses_of(*node))
        if (access.updates)
          reads_.erase(access.state);
      if (decision_of(*node).chosen())
        convert(*node);
      else if (has(node->op().effects, effect::reads_shapes_only))
        replace_shape_reader(*node);
    }
    rewriter_.finish();
  }

private:
  node_decision& decision_of(const node& node) {
    return decisions_[static_cast<size_t>(node.id())];
  }

  bool is_data(const node& node, size_t input) {
    return node.input_port(static_cast<int>(input)).type == decision_of(node).attr;
  }
  bool is_data(const edge& source) {
    const auto& outputs = decision_of(*source.node).outputs;
    return static_cast<size_t>(source.index) < outputs.size() &&
           outputs[static_cast<size_t>(source.index)];
  }

  // A node that only keeps 16 bits is chosen if it is between nodes that benefit from them.
  void choose() {
    decisions_.resize(rewriter_.nodes().size());
    for (auto* node : rewriter_.nodes()) {
      auto& decision = decision_of(*node);
      if (!has(node->op().effects, effect::autocast_allow | effect::autocast_infer))
        continue;
      decision.attr = data_attr(*node, type_);
      if (decision.attr.empty())
        continue;
      for (const auto& port : node->op().outputs) {
        auto count = port.count.empty() ? 1 : node->attr<int64_t>(port.count);
        decision.outputs.insert(decision.outputs.end(), static_cast<size_t>(count),
                                port.type == decision.attr);
      }
      decision.reached = decision.wanted = has(node->op().effects, effect::autocast_allow);
      for (size_t i = 0; i < node->inputs().size(); ++i)
        decision.reached = decision.reached ||
                           (is_data(*node, i) && decision_of(*node->inputs()[i].node).reached &&
                            is_data(node->inputs()[i]));
    }
    for (size_t next = rewriter_.nodes().size(); next-- > 0;) {
      auto* current = rewriter_.nodes()[next];
      if (decision_of(*current).chosen())
        for (size_t i = 0; i < current->inputs().size(); ++i)
          if (is_data(*current, i) && is_data(current->inputs()[i]))
            decision_of(*current->inputs()[i].node).wanted = true;
    }
  }

  // Finds nodes that run after an update of a variable that will be cast for them.
  void find_updates() {
    const update_order updates{rewriter_.graph()};
    for (auto* node : rewriter_.nodes())
      if (decision_of(*node).chosen())
        for (const auto& access : accesses_of(*node))
          if (updates.last_seen_by(*node, *access.state) != update_order::none)
            sees_update_.emplace(node, access.state);
  }

  void convert(node& node) {
    const auto& decision = decision_of(node);
    auto inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (is_data(node, i)) {
        inputs[i] = narrow(inputs[i], node);
        if (!inputs[i])
          return;
      }
    auto* narrow_node = rebuilt(node, std::move(inputs), decision.attr);
    if (!narrow_node)
      return;
    std::vector<edge> replacements;
    for (int i = 0; i < node.outputs(); ++i) {
      auto replacement = narrow_node->output(i);
      if (replacement.type() != node.output_type(i)) {
        auto wide_value = cast({&node, i}, replacement, dtype::f32, node, {});
        if (!wide_value)
          return;
        narrow_[wide_value.node] = replacement;
        replacement = wide_value;
      }
      replacements.push_back(replacement);
    }
    rewriter_.merge(node, replacements);
    rewriter_.take_name(*narrow_node, node);
  }

  // Lets a node that reads only shapes read the 16-bit value, so that it needs no cast to f32.
  void replace_shape_reader(node& node) {
    auto attr = data_attr(node, type_);
    if (attr.empty())
      return;
    for (int i = 0; i < node.outputs(); ++i)
      if (floating.contains(node.output_type(i)))
        return;
    auto inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (node.input_port(static_cast<int>(i)).type == attr) {
        auto narrow_source = narrow_.find(inputs[i].node);
        if (narrow_source == narrow_.end())
          return;
        inputs[i] = narrow_source->second;
      }
    if (auto* narrow_node = rebuilt(node, std::move(inputs), attr)) {
      rewriter_.merge(node, *narrow_node);
      rewriter_.take_name(*narrow_node, node);
    }
  }

  // Copies a node with other inputs. Returns nullptr if its op does not accept them.
  node* rebuilt(const node& node, std::vector<edge> inputs, std::string_view removed_attr) {
    auto attrs = node.attrs();
    attrs.erase(std::string{removed_attr});
    auto copy = rewriter_.add({.op = std::string{node.op().name},
                               .inputs = std::move(inputs),
                               .attrs = std::move(attrs),
                               .controls = node.controls()},
                              node);
    return copy ? *copy : nullptr;
  }

  // Returns the value in 16 bits for a reader.
  edge narrow(const edge& value, const node& reader) {
    if (auto narrow_source = narrow_.find(value.node); narrow_source != narrow_.end())
      return narrow_source->second;
    const auto& origin = internal_ops::is_boundary(*value.node) ? reader : *value.node;
    if (!value.node->output_is_ref(value.index)) {
      auto& cast_value = casts_[{value.node, value.index, origin.device()}];
      if (!cast_value)
        cast_value = cast(value, value, type_, origin, {});
      return cast_value;
    }
    // A variable must be read at the time at which its reader would have read it.
    if (!sees_update_.contains({&reader, resource_behind(value)})) {
      auto& cast_value = reads_[resource_behind(value)][{value.node, value.index, origin.device()}];
      if (!cast_value)
        cast_value = cast(value, value, type_, origin, {});
      return cast_value;
    }
    auto predecessors = reader.controls();
    for (const auto& input : reader.inputs())
      if (input.node != value.node)
        predecessors.push_back(input.node);
    std::ranges::sort(predecessors);
    auto duplicates = std::ranges::unique(predecessors);
    predecessors.erase(duplicates.begin(), duplicates.end());
    return cast(value, value, type_, origin, std::move(predecessors));
  }

  // Adds a cast. Its name is derived from that of the value that the user knows.
  edge cast(const edge& named_value, const edge& value, dtype target_type, const node& like,
            std::vector<node*> predecessors) {
    auto name = named_value.node->name();
    if (internal_ops::is_boundary(*named_value.node))
      name = name.substr(name.find('/') + 1);
    if (named_value.index > 0)
      name += concat('_', named_value.index);
    name += concat('/', target_type);
    if (rewriter_.graph().find(name))
      name.clear();
    auto cast_node = rewriter_.add({.op = "Cast",
                                    .name = std::move(name),
                                    .inputs = {value},
                                    .attrs = {{"DstT", target_type}},
                                    .controls = std::move(predecessors)},
                                   like);
    return cast_node ? (*cast_node)->output(0) : edge{};
  }

  using edge_place = std::tuple<const node*, int, std::string>; // an edge, and a device

  rewriter rewriter_;
  dtype type_;
  std::set<std::pair<const node*, const node*>> sees_update_; // a reader and a variable
  std::vector<node_decision> decisions_;                      // by id of the original nodes
  std::map<const node*, edge> narrow_;                        // the source of a cast to f32
  std::map<edge_place, edge> casts_;                          // casts to 16 bits
  // Casts of variables, for each variable: values read since its last update.
  std::map<const node*, std::map<edge_place, edge>> reads_;
};

} // namespace

void mix_precision(step_graph& step, dtype type) { precision_mixer{step, type}.run(); }

} // namespace troupe
