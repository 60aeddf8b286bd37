#include "troupe/runtime/autodiff/recompute.hpp"

#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>

namespace troupe {
namespace {

constexpr auto impure = effect::stateful | effect::random | effect::blocking | effect::must_be_fed;

void add_once(std::vector<node*>& list, node* added) {
  if (std::ranges::find(list, added) == list.end())
    list.push_back(added);
}

} // namespace

recomputation::recomputation(graph& target, const std::vector<std::vector<node*>>& parts,
                             const std::vector<edge>& ys, const std::vector<edge>& weights)
    : graph_(target), starts_(parts.size()) {
  for (size_t i = 0; i < parts.size(); ++i)
    for (auto* part_node : parts[i])
      part_of_.emplace(part_node, i);
  if (part_of_.empty())
    return;
  for (const auto& y : ys)
    add_once(ends_, y.node);
  std::vector<const node*> pending{ends_.begin(), ends_.end()};
  for (const auto& weight : weights)
    pending.push_back(weight.node);
  std::vector<bool> is_visited(target.nodes().size());
  while (!pending.empty()) {
    const auto* visited = pending.back();
    pending.pop_back();
    if (is_visited[static_cast<size_t>(visited->id())])
      continue;
    is_visited[static_cast<size_t>(visited->id())] = true;
    for (const auto& access : accesses_of(*visited))
      if (access.updates)
        updated_.insert(access.state);
    for (const auto& input : visited->inputs())
      pending.push_back(input.node);
    pending.insert(pending.end(), visited->controls().begin(), visited->controls().end());
  }
}

// Random numbers must not be drawn again and effects must not be repeated. A variable must not be
// read after an update that its first reader did not see.
bool recomputation::is_recomputable(const node& node) const {
  if (has(node.op().effects, impure) || node.op().state_kind != resource::none ||
      node.inputs().empty())
    return false;
  for (int i = 0; i < node.outputs(); ++i)
    if (node.output_is_ref(i))
      return false;
  return std::ranges::none_of(accesses_of(node), [&](const state_access& access) {
    return !access.is_read || updated_.contains(access.state);
  });
}

edge recomputation::recomputed_edge(const edge& source) const {
  auto copied = copies_.find(source.node);
  return copied == copies_.end() ? source : edge{copied->second, source.index};
}

result<node*> recomputation::recomputed(node& target, const std::vector<edge>& output_gradients) {
  auto part_entry = part_of_.find(&target);
  if (part_entry == part_of_.end() || !is_recomputable(target))
    return &target;
  auto part = part_entry->second;
  auto& start = starts_[part];
  if (start.empty()) {
    start = ends_;
    for (const auto& output_gradient : output_gradients)
      if (output_gradient)
        add_once(start, output_gradient.node);
  }
  // The recomputable dependencies in the part, in topological order.
  std::vector<const node*> needed, pending{&target};
  std::set<const node*> seen;
  while (!pending.empty()) {
    const auto* dependency = pending.back();
    pending.pop_back();
    auto entry = part_of_.find(dependency);
    if (entry == part_of_.end() || entry->second != part || copies_.contains(dependency) ||
        !is_recomputable(*dependency) || !seen.insert(dependency).second)
      continue;
    needed.push_back(dependency);
    for (const auto& input : dependency->inputs())
      pending.push_back(input.node);
  }
  std::ranges::sort(needed, {}, &node::id);
  for (const auto* dependency : needed) {
    TROUPE_ASSIGN(auto* copied, copy(*dependency, start));
    copies_[dependency] = copied;
  }
  return copies_.at(&target);
}

result<node*> recomputation::copy(const node& source, const std::vector<node*>& start) {
  node_spec spec{.op = std::string{source.op().name},
                 .name = source.name(),
                 .inputs = {},
                 .attrs = source.attrs(),
                 .controls = source.controls(),
                 .where = source.where()};
  bool is_ordered = false; // by an input that is a copy
  for (const auto& input : source.inputs()) {
    spec.inputs.push_back(recomputed_edge(input));
    is_ordered = is_ordered || !is_same_edge(spec.inputs.back(), input);
  }
  if (!is_ordered)
    for (auto* predecessor : start)
      add_once(spec.controls, predecessor);
  if (graph_.find(graph_.scope() + spec.name))
    spec.name.clear();
  graph_.push_device(source.device()); // overrides the device of the current scope
  auto added = graph_.add(std::move(spec));
  graph_.pop_device();
  return added;
}

} // namespace troupe
