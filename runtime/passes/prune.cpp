#include "troupe/runtime/passes/prune.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/collective.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace troupe {
namespace {

bool updates_variable(const node& node) {
  return std::ranges::any_of(accesses_of(node), [](const state_access& one) {
    return one.updates && one.state->op().makes == resource::variable;
  });
}

// Nodes that wait for each other run in the same steps: a step that needs one of them needs all.
class peer_finder {
public:
  explicit peer_finder(const graph& of) : of_(of) {}

  const std::vector<node*>& peers_of(const node& node) {
    if (groups_.empty())
      for (const auto& one : of_.nodes())
        if (is_collective(one->op()))
          groups_[keys_of(*one)].push_back(one.get());
    return groups_[keys_of(node)];
  }

private:
  using keys = std::pair<int64_t, int64_t>;
  static keys keys_of(const node& node) {
    return {node.attr<int64_t>("group_key"), node.attr<int64_t>("instance_key")};
  }
  const graph& of_;
  std::map<keys, std::vector<node*>> groups_; // found when the first is needed
};

// Keeps the order but for updates, which come when nothing else can.
std::vector<node*> updates_late(const graph& of, const std::vector<node*>& order) {
  if (std::ranges::none_of(order, [](auto* at) { return updates_variable(*at); }))
    return order;
  constexpr size_t absent = SIZE_MAX;
  std::vector<size_t> place(of.nodes().size(), absent), missing(order.size(), 0);
  std::vector<std::vector<size_t>> after(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    place[static_cast<size_t>(order[i]->id())] = i;
  for (size_t i = 0; i < order.size(); ++i) {
    auto wait_for = [&](const node& before) {
      if (auto first = place[static_cast<size_t>(before.id())]; first != absent) {
        after[first].push_back(i);
        ++missing[i];
      }
    };
    for (const auto& input : order[i]->inputs())
      wait_for(*input.node);
    for (const auto* before : order[i]->controls())
      wait_for(*before);
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready, updates;
  auto add = [&](size_t i) { (updates_variable(*order[i]) ? updates : ready).push(i); };
  for (size_t i = 0; i < order.size(); ++i)
    if (missing[i] == 0)
      add(i);
  std::vector<node*> later;
  while (!ready.empty() || !updates.empty()) {
    auto& from = ready.empty() ? updates : ready;
    auto next = from.top();
    from.pop();
    later.push_back(order[next]);
    for (auto i : after[next])
      if (--missing[i] == 0)
        add(i);
  }
  return later;
}

} // namespace

result<std::vector<node*>> prune(const graph& of, const step_signature& signature) {
  auto is_fed = [&](edge what) { return contains_edge(signature.feeds, what); };
  for (size_t i = 0; i < signature.feeds.size(); ++i) {
    auto what = signature.feeds[i];
    if (!what.exists() || &what.node->graph() != &of)
      return invalid("feed ", i, " is an edge to nothing or of another graph");
    if (auto* behind = what.node->output_is_ref(what.index) ? resource_behind(what) : nullptr;
        behind && behind->op().makes != resource::variable)
      return invalid("feed ", i, ": ", behind->description(), " is a ",
                     to_string(behind->op().makes), ", which cannot be fed");
    if (contains_edge(std::span{signature.feeds}.first(i), what))
      return invalid("'", what, "' is fed twice");
  }
  std::vector<node*> open;
  for (size_t i = 0; i < signature.fetches.size(); ++i) {
    auto what = signature.fetches[i];
    if (!what.exists() || &what.node->graph() != &of)
      return invalid("fetch ", i, " is an edge to nothing or of another graph");
    if (auto* behind = what.node->output_is_ref(what.index) ? resource_behind(what) : nullptr;
        behind && behind->op().makes != resource::variable)
      return invalid("fetch ", i, ": ", behind->description(), " is a ",
                     to_string(behind->op().makes), ", which has no value");
    if (!is_fed(what))
      open.push_back(what.node);
  }
  for (size_t i = 0; i < signature.targets.size(); ++i) {
    if (!signature.targets[i] || &signature.targets[i]->graph() != &of)
      return invalid("target ", i, " is no node of this graph");
    open.push_back(signature.targets[i]);
  }
  if (signature.fetches.empty() && signature.targets.empty())
    return invalid("a step needs at least one fetch or target");

  peer_finder groups{of};
  std::vector<bool> needed(of.nodes().size(), false);
  while (!open.empty()) {
    auto* at = open.back();
    open.pop_back();
    auto seen = needed[static_cast<size_t>(at->id())];
    if (seen)
      continue;
    needed[static_cast<size_t>(at->id())] = true;
    if (has(at->op().effects, effect::fed))
      return invalid(at->description(), ": must be fed with ", at->output_type(0),
                     at->output_shape(0), ", and is not");
    if (is_collective(at->op()))
      std::ranges::copy(groups.peers_of(*at), std::back_inserter(open));
    for (int i = 0; i < static_cast<int>(at->inputs().size()); ++i) {
      const auto& input = at->inputs()[static_cast<size_t>(i)];
      if (!is_fed(input))
        open.push_back(input.node);
      else if (at->input_is_ref(i))
        return invalid(at->description(), " takes the variable '", input,
                       "' itself, and not its value, which is fed: run it in another step");
    }
    for (auto* before : at->controls())
      // A fed placeholder is there from the start: waiting for it means nothing.
      if (!(has(before->op().effects, effect::fed) && is_fed({before, 0})))
        open.push_back(before);
  }
  TROUPE_ASSIGN(auto order, topological_order(of));
  std::erase_if(order, [&](node* node) { return !needed[static_cast<size_t>(node->id())]; });
  return updates_late(of, order);
}

} // namespace troupe
