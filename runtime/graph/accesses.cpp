#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>

namespace troupe {
namespace {

bool is_ref(const edge& source) { return source.node->output_is_ref(source.index); }

} // namespace

bool uses_state(const node& source) noexcept {
  return std::ranges::any_of(source.inputs(), is_ref);
}

std::vector<state_access> accesses_of(const node& source) {
  std::vector<state_access> accesses;
  for (int i = 0; i < static_cast<int>(source.inputs().size()); ++i) {
    const auto& input = source.inputs()[static_cast<size_t>(i)];
    if (!is_ref(input))
      continue;
    const auto* state = resource_behind(input);
    if (!state)
      continue;
    auto takes_ref = source.input_is_ref(i);
    accesses.push_back(
        {.state = state,
         .input = i,
         .updates = takes_ref && !has(source.op().effects, effect::reads_shapes_only),
         .is_read = !takes_ref && state->op().state_kind == resource::variable});
  }
  return accesses;
}

update_order::update_order(const graph& source) : graph_(source) {
  for (const auto& node : source.nodes())
    for (const auto& access : accesses_of(*node))
      if (access.updates) {
        auto& ids = updates_by_state_[access.state].ids;
        if (ids.empty() || ids.back() != node->id())
          ids.push_back(node->id());
      }
}

// A node can depend on an update only if it is after the first update.
int update_order::last_seen_by(const node& reader, const node& state) const {
  auto state_updates = updates_by_state_.find(&state);
  if (state_updates == updates_by_state_.end() || reader.id() <= state_updates->second.ids.front())
    return none;
  auto& [ids, seen] = state_updates->second;
  auto first = static_cast<size_t>(ids.front());
  if (seen.empty()) {
    seen.assign(graph_.nodes().size() - first, none);
    auto next = ids.begin();
    for (auto id = first; id < graph_.nodes().size(); ++id) {
      auto& last_seen = seen[id - first];
      auto visit = [&](const node& predecessor) {
        if (predecessor.index() < first)
          return;
        auto is_update = std::ranges::binary_search(ids.begin(), next, predecessor.id());
        last_seen =
            std::max(last_seen, is_update ? predecessor.id() : seen[predecessor.index() - first]);
      };
      for (const auto& input : graph_.nodes()[id]->inputs())
        visit(*input.node);
      for (const auto* predecessor : graph_.nodes()[id]->controls())
        visit(*predecessor);
      if (next != ids.end() && static_cast<size_t>(*next) == id)
        ++next;
    }
  }
  return seen[reader.index() - first];
}

int update_order::last_before(const node& reader, const node& state) const {
  auto state_updates = updates_by_state_.find(&state);
  if (state_updates == updates_by_state_.end())
    return none;
  auto next = std::ranges::lower_bound(state_updates->second.ids, reader.id());
  return next == state_updates->second.ids.begin() ? none : *std::prev(next);
}

int update_order::first_after(int update, const node& state) const {
  auto state_updates = updates_by_state_.find(&state);
  if (state_updates == updates_by_state_.end())
    return none;
  auto next = std::ranges::upper_bound(state_updates->second.ids, update);
  return next == state_updates->second.ids.end() ? none : *next;
}

} // namespace troupe
