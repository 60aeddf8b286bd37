#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>

namespace troupe {
namespace {

bool is_ref(const edge& what) { return what.node->output_is_ref(what.index); }

} // namespace

bool uses_state(const node& of) noexcept { return std::ranges::any_of(of.inputs(), is_ref); }

std::vector<state_access> accesses_of(const node& of) {
  std::vector<state_access> found;
  for (int i = 0; i < static_cast<int>(of.inputs().size()); ++i) {
    const auto& input = of.inputs()[static_cast<size_t>(i)];
    if (!is_ref(input))
      continue;
    const auto* state = resource_behind(input);
    if (!state)
      continue;
    auto itself = of.input_is_ref(i);
    found.push_back({.state = state,
                     .input = i,
                     .updates = itself && !has(of.op().effects, effect::of_shape),
                     .as_value = !itself && state->op().makes == resource::variable});
  }
  return found;
}

update_order::update_order(const graph& of) : graph_(of) {
  for (const auto& node : of.nodes())
    for (const auto& access : accesses_of(*node))
      if (access.updates) {
        auto& ids = of_[access.state].ids;
        if (ids.empty() || ids.back() != node->id())
          ids.push_back(node->id());
      }
}

// Only what stands behind the first update can depend on one.
int update_order::seen_by(const node& n, const node& state) const {
  auto it = of_.find(&state);
  if (it == of_.end() || n.id() <= it->second.ids.front())
    return none;
  auto& [ids, seen] = it->second;
  auto first = static_cast<size_t>(ids.front());
  if (seen.empty()) {
    seen.assign(graph_.nodes().size() - first, none);
    auto next = ids.begin();
    for (auto id = first; id < graph_.nodes().size(); ++id) {
      auto& mine = seen[id - first];
      auto look_at = [&](const node& before) {
        if (before.index() < first)
          return;
        auto updates = std::ranges::binary_search(ids.begin(), next, before.id());
        mine = std::max(mine, updates ? before.id() : seen[before.index() - first]);
      };
      for (const auto& input : graph_.nodes()[id]->inputs())
        look_at(*input.node);
      for (const auto* before : graph_.nodes()[id]->controls())
        look_at(*before);
      if (next != ids.end() && static_cast<size_t>(*next) == id)
        ++next;
    }
  }
  return seen[n.index() - first];
}

int update_order::last_before(const node& n, const node& state) const {
  auto it = of_.find(&state);
  if (it == of_.end())
    return none;
  auto next = std::ranges::lower_bound(it->second.ids, n.id());
  return next == it->second.ids.begin() ? none : *std::prev(next);
}

int update_order::first_after(int update, const node& state) const {
  auto it = of_.find(&state);
  if (it == of_.end())
    return none;
  auto next = std::ranges::upper_bound(it->second.ids, update);
  return next == it->second.ids.end() ? none : *next;
}

} // namespace troupe
