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

// A tree or acyclic graph of element-wise nodes that is fused into one node. The first node is its
// root. No node outside reads the others.
struct cluster {
  std::vector<node*> nodes; // from the root to its inputs
  size_t inputs = 0;        // an upper bound
};

class fuser {
public:
  fuser(step_graph& step, device_kind kind)
      : rewriter_(step), device_(kind), readers_(rewriter_.nodes().size()),
        has_successor_(rewriter_.nodes().size()), cluster_of_(rewriter_.nodes().size(), none) {
    for (auto* node : rewriter_.nodes()) {
      for (const auto& input : node->inputs())
        readers_[id(*input.node)].push_back(id(*node));
      for (auto* before : node->controls())
        has_successor_[id(*before)] = true;
      updates_.note(*node);
    }
  }

  void run() {
    // Visits readers first, so that it is known whether all readers of a node are in one cluster.
    auto nodes = rewriter_.nodes();
    for (auto visited = nodes.rbegin(); visited != nodes.rend(); ++visited)
      if (can_be_stage(**visited))
        add_to_cluster(**visited);
    for (const auto& joined : clusters_)
      if (joined.nodes.size() > 1)
        replace(joined);
    rewriter_.finish();
  }

private:
  static size_t id(const node& node) { return static_cast<size_t>(node.id()); }

  bool can_be_stage(const node& node) const {
    constexpr auto excluded =
        effect::stateful | effect::random | effect::blocking | effect::must_be_fed;
    const auto& op = node.op();
    if (!has(op.effects, effect::elementwise) || has(op.effects, excluded) || node.outputs() != 1 ||
        node.inputs().empty() || node.inputs().size() > 2 || !node.output_shape(0).has_rank())
      return false;
    for (const auto& input : node.inputs())
      if (input.type() != node.inputs()[0].type())
        return false;
    auto* kernel = node.graph().ops().find_kernel(op.name, device_);
    auto* entry = kernel ? kernel->find(node.inputs()[0].type()) : nullptr;
    return entry && !entry->accepts_second_input && // a fused node has no errors of its own
           (device_ == device_kind::cpu ? entry->inner_loop != nullptr : entry->code != nullptr);
  }

  void add_to_cluster(node& node) {
    auto cluster_index = common_cluster_of_readers(node);
    if (cluster_index == none || !fits(node, clusters_[static_cast<size_t>(cluster_index)])) {
      cluster_index = static_cast<int>(clusters_.size());
      clusters_.push_back({{}, 1});
    }
    auto& target = clusters_[static_cast<size_t>(cluster_index)];
    target.nodes.push_back(&node);
    target.inputs += node.inputs().size() - 1;
    cluster_of_[id(node)] = cluster_index;
  }

  int common_cluster_of_readers(const node& node) const {
    const auto& readers = readers_[id(node)];
    if (readers.empty() || has_successor_[id(node)] || rewriter_.is_target(node))
      return none;
    auto cluster_index = cluster_of_[readers.front()];
    bool is_common = std::ranges::all_of(
        readers, [&](size_t reader) { return cluster_of_[reader] == cluster_index; });
    return is_common ? cluster_index : none;
  }

  bool fits(const node& node, const cluster& target) const {
    const auto& root = *target.nodes.front();
    return target.nodes.size() < max_stages &&
           target.inputs + node.inputs().size() - 1 <= max_inputs &&
           node.output_shape(0) == root.output_shape(0) && updates_.reads_the_same_at(node, root);
  }

  // Errors name the user's nodes: the root, whose name the fused node has, and all others.
  static std::string origin_of(const cluster& fused) {
    std::string text{"fused from "};
    for (auto* node : fused.nodes)
      text += concat(node == fused.nodes.front() ? "" : ", ", node->description());
    return text;
  }

  void replace(const cluster& fused) {
    auto& root = *fused.nodes.front();
    std::vector<edge> inputs;
    std::vector<dtype> input_types, types;
    std::vector<std::string> ops, origins;
    std::vector<int64_t> operands;
    std::vector<node*> controls;
    std::map<const node*, int64_t> stage_of;
    for (auto position = fused.nodes.rbegin(); position != fused.nodes.rend(); ++position) {
      auto& stage_node = **position;
      for (const auto& input : stage_node.inputs())
        if (cluster_of_[id(*input.node)] != cluster_of_[id(root)] &&
            !contains_edge(inputs, input)) {
          inputs.push_back(input);
          input_types.push_back(input.type());
        }
      controls.insert(controls.end(), stage_node.controls().begin(), stage_node.controls().end());
    }
    for (auto position = fused.nodes.rbegin(); position != fused.nodes.rend(); ++position) {
      auto& stage_node = **position;
      for (const auto& input : stage_node.inputs()) {
        auto stage = stage_of.find(input.node);
        operands.push_back(stage != stage_of.end()
                               ? static_cast<int64_t>(inputs.size()) + stage->second
                               : find_edge(inputs, input) - inputs.begin());
      }
      stage_of.emplace(&stage_node, static_cast<int64_t>(ops.size()));
      ops.emplace_back(stage_node.op().name);
      types.push_back(stage_node.inputs()[0].type());
      origins.push_back(stage_node.description());
    }
    for (auto& input : inputs)
      input = rewriter_.replacement_of(input); // another cluster's root has been replaced
    for (auto*& before : controls)
      before = rewriter_.replacement_of({before, 0}).node;
    sort_controls(controls);
    auto fused_node = rewriter_.add({.op = std::string{internal_ops::fused.name},
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
    if (!fused_node)
      return;
    rewriter_.graph().set_origin(**fused_node, origin_of(fused));
    rewriter_.merge(root, **fused_node);
    rewriter_.take_name(**fused_node, root);
  }

  rewriter rewriter_;
  device_kind device_;
  std::vector<std::vector<size_t>> readers_; // by node id
  std::vector<bool> has_successor_;          // by node id: a control edge starts here
  std::vector<int> cluster_of_;
  std::vector<cluster> clusters_;
  variable_updates updates_;
};

} // namespace

void fuse_elementwise(step_graph& step, device_kind kind) {
  auto& ops = step.nodes->ops();
  if (ops.find_kernel(internal_ops::fused.name, kind))
    fuser{step, kind}.run();
}

} // namespace troupe
