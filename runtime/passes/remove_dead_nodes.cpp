#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Returns all nodes that a node runs after, if they run.
std::vector<node*> predecessors(const node& node_after) {
  std::vector<node*> list = node_after.controls();
  for (const auto& input : node_after.inputs())
    list.push_back(input.node);
  std::ranges::sort(list);
  auto duplicates = std::ranges::unique(list);
  list.erase(duplicates.begin(), duplicates.end());
  return list;
}

// Returns whether a node has its value from the start, so that a control edge from it has no
// effect.
bool is_ready_at_once(const node& node) {
  return node.inputs().empty() && node.controls().empty() &&
         (is_pure(node) || has(node.op().effects, effect::must_be_fed) ||
          node.op().state_kind != resource::none);
}

} // namespace

void remove_dead_nodes(step_graph& step) {
  rewriter graph_rewriter{step};
  std::vector<int> readers(graph_rewriter.nodes().size(), 0),
      successors(graph_rewriter.nodes().size(), 0);
  for (auto* node : graph_rewriter.nodes()) {
    for (const auto& input : node->inputs())
      ++readers[static_cast<size_t>(input.node->id())];
    for (auto* before : node->controls())
      ++successors[static_cast<size_t>(before->id())];
  }
  auto is_only_ordering = [&](node& node) {
    auto id = static_cast<size_t>(node.id());
    if (!is_pure(node) || readers[id] > 0 || graph_rewriter.is_target(node))
      return false;
    // The number of edges must not grow: hundreds of nodes before hundreds of others stay grouped.
    auto predecessor_count = node.inputs().size() + node.controls().size(),
         successor_count = static_cast<size_t>(successors[id]);
    return predecessor_count * successor_count <= predecessor_count + successor_count;
  };
  for (auto* visited : graph_rewriter.nodes()) {
    if (visited->controls().empty())
      continue;
    std::vector<node*> new_controls;
    for (auto* before : visited->controls()) {
      if (!is_only_ordering(*before)) {
        new_controls.push_back(before);
        continue;
      }
      auto indirect = predecessors(*before); // the control edges of `before` have been processed
      new_controls.insert(new_controls.end(), indirect.begin(), indirect.end());
    }
    std::ranges::sort(new_controls, {}, &node::id);
    auto duplicates = std::ranges::unique(new_controls);
    new_controls.erase(duplicates.begin(), duplicates.end());
    std::erase_if(new_controls, [&](node* before) {
      return is_ready_at_once(*before) ||
             std::ranges::find(visited->inputs(), before, &edge::node) != visited->inputs().end();
    });
    if (!std::ranges::is_permutation(new_controls, visited->controls()))
      graph_rewriter.set_controls(*visited, std::move(new_controls));
  }
  graph_rewriter.finish();
}

} // namespace troupe
