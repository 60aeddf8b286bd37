#include "troupe/runtime/autodiff/recompute.hpp"

#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>

namespace troupe {
namespace {

constexpr auto impure = effect::stateful | effect::random | effect::blocking | effect::fed;

void add_once(std::vector<node*>& to, node* one) {
  if (std::ranges::find(to, one) == to.end())
    to.push_back(one);
}

} // namespace

recomputation::recomputation(graph& in, const std::vector<std::vector<node*>>& parts,
                             const std::vector<edge>& ys, const std::vector<edge>& weights)
    : graph_(in), starts_(parts.size()) {
  for (size_t i = 0; i < parts.size(); ++i)
    for (auto* at : parts[i])
      part_of_.emplace(at, i);
  if (part_of_.empty())
    return;
  for (const auto& y : ys)
    add_once(ends_, y.node);
  std::vector<const node*> open{ends_.begin(), ends_.end()};
  for (const auto& weight : weights)
    open.push_back(weight.node);
  std::vector<bool> seen(in.nodes().size());
  while (!open.empty()) {
    const auto* at = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(at->id())])
      continue;
    seen[static_cast<size_t>(at->id())] = true;
    for (const auto& access : accesses_of(*at))
      if (access.updates)
        updated_.insert(access.state);
    for (const auto& input : at->inputs())
      open.push_back(input.node);
    open.insert(open.end(), at->controls().begin(), at->controls().end());
  }
}

// Random numbers must not be drawn anew, nor effects had twice, and a variable must not be read
// after an update that its first reader did not see.
bool recomputation::can_run_again(const node& node) const {
  if (has(node.op().effects, impure) || node.op().makes != resource::none || node.inputs().empty())
    return false;
  for (int i = 0; i < node.outputs(); ++i)
    if (node.output_is_ref(i))
      return false;
  return std::ranges::none_of(accesses_of(node), [&](const state_access& one) {
    return !one.as_value || updated_.contains(one.state);
  });
}

edge recomputation::again(const edge& what) const {
  auto it = copies_.find(what.node);
  return it == copies_.end() ? what : edge{it->second, what.index};
}

result<node*> recomputation::recomputed(node& n, const std::vector<edge>& output_gradients) {
  auto found = part_of_.find(&n);
  if (found == part_of_.end() || !can_run_again(n))
    return &n;
  auto part = found->second;
  auto& start = starts_[part];
  if (start.empty()) {
    start = ends_;
    for (const auto& one : output_gradients)
      if (one)
        add_once(start, one.node);
  }
  // All of the part that it takes, first things first.
  std::vector<const node*> needed, open{&n};
  std::set<const node*> seen;
  while (!open.empty()) {
    const auto* one = open.back();
    open.pop_back();
    auto in = part_of_.find(one);
    if (in == part_of_.end() || in->second != part || copies_.contains(one) ||
        !can_run_again(*one) || !seen.insert(one).second)
      continue;
    needed.push_back(one);
    for (const auto& input : one->inputs())
      open.push_back(input.node);
  }
  std::ranges::sort(needed, {}, &node::id);
  for (const auto* one : needed) {
    TROUPE_ASSIGN(auto* made, copy(*one, start));
    copies_[one] = made;
  }
  return copies_.at(&n);
}

result<node*> recomputation::copy(const node& n, const std::vector<node*>& start) {
  node_spec spec{.op = std::string{n.op().name},
                 .name = n.name(),
                 .inputs = {},
                 .attrs = n.attrs(),
                 .controls = n.controls(),
                 .where = n.where()};
  bool waits = false; // through a copy that it takes
  for (const auto& input : n.inputs()) {
    spec.inputs.push_back(again(input));
    waits = waits || !is_same_edge(spec.inputs.back(), input);
  }
  if (!waits)
    for (auto* one : start)
      add_once(spec.controls, one);
  if (graph_.find(graph_.scope() + spec.name))
    spec.name.clear();
  graph_.push_device(n.device()); // and no other that is being used at the moment
  auto made = graph_.add(std::move(spec));
  graph_.pop_device();
  return made;
}

} // namespace troupe
