#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/passes/variable_updates.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

constexpr size_t max_stages = 32, max_inputs = 16;
constexpr int none = -1;

// A tree, or a graph, of element-wise nodes that one node becomes: the last is its root, and nobody
// outside sees the others.
struct cluster {
  std::vector<node*> nodes; // from the root up
  size_t inputs = 0;        // at most
};

class fuser {
public:
  fuser(step_graph& of, device_kind on)
      : change_(of), on_(on), readers_(change_.nodes().size()), waited_for_(change_.nodes().size()),
        cluster_of_(change_.nodes().size(), none) {
    for (auto* node : change_.nodes()) {
      for (const auto& input : node->inputs())
        readers_[id(*input.node)].push_back(id(*node));
      for (auto* before : node->controls())
        waited_for_[id(*before)] = true;
      updates_.note(*node);
    }
  }

  void run() {
    // Readers come first, so that a node knows whether all of them are in one cluster.
    auto nodes = change_.nodes();
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (can_be_stage(**it))
        join_or_begin(**it);
    for (const auto& one : clusters_)
      if (one.nodes.size() > 1)
        replace(one);
    change_.finish();
  }

private:
  static size_t id(const node& node) { return static_cast<size_t>(node.id()); }

  bool can_be_stage(const node& node) const {
    constexpr auto never = effect::stateful | effect::random | effect::blocking | effect::fed;
    const auto& op = node.op();
    if (!has(op.effects, effect::elementwise) || has(op.effects, never) || node.outputs() != 1 ||
        node.inputs().empty() || node.inputs().size() > 2 || !node.output_shape(0).has_rank())
      return false;
    for (const auto& input : node.inputs())
      if (input.type() != node.inputs()[0].type())
        return false;
    auto* kernel = node.graph().ops().find_kernel(op.name, on_);
    auto* entry = kernel ? kernel->find(node.inputs()[0].type()) : nullptr;
    return entry && !entry->takes_second && // the whole has no error of its own
           (on_ == device_kind::cpu ? entry->inner_loop != nullptr : entry->code != nullptr);
  }

  void join_or_begin(node& node) {
    auto which = common_cluster_of_readers(node);
    if (which == none || !fits(node, clusters_[static_cast<size_t>(which)])) {
      which = static_cast<int>(clusters_.size());
      clusters_.push_back({{}, 1});
    }
    auto& joined = clusters_[static_cast<size_t>(which)];
    joined.nodes.push_back(&node);
    joined.inputs += node.inputs().size() - 1;
    cluster_of_[id(node)] = which;
  }

  int common_cluster_of_readers(const node& node) const {
    const auto& readers = readers_[id(node)];
    if (readers.empty() || waited_for_[id(node)] || change_.is_target(node))
      return none;
    auto which = cluster_of_[readers.front()];
    bool same = std::ranges::all_of(readers, [&](size_t one) { return cluster_of_[one] == which; });
    return same ? which : none;
  }

  bool fits(const node& node, const cluster& into) const {
    const auto& root = *into.nodes.front();
    return into.nodes.size() < max_stages && into.inputs + node.inputs().size() - 1 <= max_inputs &&
           node.output_shape(0) == root.output_shape(0) && updates_.reads_the_same_at(node, root);
  }

  // Errors name the user's nodes: the root, whose name the whole has, and all inside.
  static std::string origin_of(const cluster& what) {
    std::string text{"fused from "};
    for (auto* node : what.nodes)
      text += concat(node == what.nodes.front() ? "" : ", ", node->description());
    return text;
  }

  void replace(const cluster& what) {
    auto& root = *what.nodes.front();
    std::vector<edge> inputs;
    std::vector<dtype> input_types, types;
    std::vector<std::string> ops, origins;
    std::vector<int64_t> operands;
    std::vector<node*> controls;
    std::map<const node*, int64_t> stage_of;
    for (auto it = what.nodes.rbegin(); it != what.nodes.rend(); ++it) {
      auto& at = **it;
      for (const auto& input : at.inputs())
        if (cluster_of_[id(*input.node)] != cluster_of_[id(root)] &&
            !contains_edge(inputs, input)) {
          inputs.push_back(input);
          input_types.push_back(input.type());
        }
      controls.insert(controls.end(), at.controls().begin(), at.controls().end());
    }
    for (auto it = what.nodes.rbegin(); it != what.nodes.rend(); ++it) {
      auto& at = **it;
      for (const auto& input : at.inputs()) {
        auto stage = stage_of.find(input.node);
        operands.push_back(stage != stage_of.end()
                               ? static_cast<int64_t>(inputs.size()) + stage->second
                               : find_edge(inputs, input) - inputs.begin());
      }
      stage_of.emplace(&at, static_cast<int64_t>(ops.size()));
      ops.emplace_back(at.op().name);
      types.push_back(at.inputs()[0].type());
      origins.push_back(at.description());
    }
    for (auto& input : inputs)
      input = change_.now(input); // another cluster's root has been replaced
    for (auto*& before : controls)
      before = change_.now({before, 0}).node;
    sort_controls(controls);
    auto made = change_.add({.op = std::string{internal_ops::fused.name},
                             .inputs = std::move(inputs),
                             .attrs = {{"Tin", std::move(input_types)},
                                       {"dtype", root.output_type(0)},
                                       {"shape", root.output_shape(0)},
                                       {"ops", std::move(ops)},
                                       {"types", std::move(types)},
                                       {"operands", std::move(operands)},
                                       {"origins", std::move(origins)}},
                             .controls = std::move(controls)},
                            root);
    if (!made)
      return;
    change_.graph().set_origin(**made, origin_of(what));
    change_.merge(root, **made);
    change_.take_name(**made, root);
  }

  rewriter change_;
  device_kind on_;
  std::vector<std::vector<size_t>> readers_; // by node id
  std::vector<bool> waited_for_;             // by a control edge
  std::vector<int> cluster_of_;
  std::vector<cluster> clusters_;
  variable_updates updates_;
};

} // namespace

void fuse_elementwise(step_graph& of, device_kind on) {
  auto& ops = of.nodes->ops();
  if (ops.find_kernel(internal_ops::fused.name, on))
    fuser{of, on}.run();
}

} // namespace troupe
