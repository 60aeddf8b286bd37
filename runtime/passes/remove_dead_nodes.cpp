#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Everybody a node comes after, as far as they run at all.
std::vector<node*> predecessors(const node& n) {
  std::vector<node*> before = n.controls();
  for (const auto& input : n.inputs())
    before.push_back(input.node);
  std::ranges::sort(before);
  auto twice = std::ranges::unique(before);
  before.erase(twice.begin(), twice.end());
  return before;
}

// There from the start: to come after it means nothing.
bool is_ready_at_once(const node& node) {
  return node.inputs().empty() && node.controls().empty() &&
         (is_pure(node) || has(node.op().effects, effect::fed) ||
          node.op().makes != resource::none);
}

} // namespace

void remove_dead_nodes(step_graph& of) {
  rewriter change{of};
  std::vector<int> readers(change.nodes().size(), 0), waiters(change.nodes().size(), 0);
  for (auto* node : change.nodes()) {
    for (const auto& input : node->inputs())
      ++readers[static_cast<size_t>(input.node->id())];
    for (auto* before : node->controls())
      ++waiters[static_cast<size_t>(before->id())];
  }
  auto only_orders = [&](node& node) {
    auto id = static_cast<size_t>(node.id());
    if (!is_pure(node) || readers[id] > 0 || change.is_target(node))
      return false;
    // Edges may not become more: a group of hundreds before hundreds stays a group.
    auto before = node.inputs().size() + node.controls().size(),
         after = static_cast<size_t>(waiters[id]);
    return before * after <= before + after;
  };
  for (auto* n : change.nodes()) {
    if (n->controls().empty())
      continue;
    std::vector<node*> wanted;
    for (auto* before : n->controls()) {
      if (!only_orders(*before)) {
        wanted.push_back(before);
        continue;
      }
      auto further = predecessors(*before); // whose controls were looked at before
      wanted.insert(wanted.end(), further.begin(), further.end());
    }
    std::ranges::sort(wanted, {}, &node::id);
    auto twice = std::ranges::unique(wanted);
    wanted.erase(twice.begin(), twice.end());
    std::erase_if(wanted, [&](node* before) {
      return is_ready_at_once(*before) ||
             std::ranges::find(n->inputs(), before, &edge::node) != n->inputs().end();
    });
    if (!std::ranges::is_permutation(wanted, n->controls()))
      change.set_controls(*n, std::move(wanted));
  }
  change.finish();
}

} // namespace troupe
