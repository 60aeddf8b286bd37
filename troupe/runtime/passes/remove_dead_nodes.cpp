#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Everybody a node comes after, as far as they run at all.
std::vector<node*> predecessors(const node& at) {
  std::vector<node*> before = at.controls();
  for (const auto& input : at.inputs())
    before.push_back(input.node);
  std::ranges::sort(before);
  auto twice = std::ranges::unique(before);
  before.erase(twice.begin(), twice.end());
  return before;
}

// There from the start: to come after it means nothing.
bool is_ready_at_once(const node& at) {
  return at.inputs().empty() && at.controls().empty() &&
         (is_pure(at) || has(at.op().effects, effect::fed) || at.op().makes != resource::none);
}

} // namespace

void remove_dead_nodes(step_graph& of) {
  rewriter change{of};
  std::vector<int> readers(change.nodes().size(), 0), waiters(change.nodes().size(), 0);
  for (auto* at : change.nodes()) {
    for (const auto& input : at->inputs())
      ++readers[static_cast<size_t>(input.node->id())];
    for (auto* before : at->controls())
      ++waiters[static_cast<size_t>(before->id())];
  }
  auto only_orders = [&](node& at) {
    auto id = static_cast<size_t>(at.id());
    if (!is_pure(at) || readers[id] > 0 || change.is_target(at))
      return false;
    // Edges may not become more: a group of hundreds before hundreds stays a group.
    auto before = at.inputs().size() + at.controls().size(),
         after = static_cast<size_t>(waiters[id]);
    return before * after <= before + after;
  };
  for (auto* at : change.nodes()) {
    if (at->controls().empty())
      continue;
    std::vector<node*> wanted;
    for (auto* before : at->controls()) {
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
             std::ranges::find(at->inputs(), before, &edge::node) != at->inputs().end();
    });
    if (!std::ranges::is_permutation(wanted, at->controls()))
      change.set_controls(*at, std::move(wanted));
  }
  change.finish();
}

} // namespace troupe
