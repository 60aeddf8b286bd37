#include "troupe/runtime/passes/prune.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/collective.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace troupe {
namespace {

bool updates_variable(const node& node) {
  return std::ranges::any_of(accesses_of(node), [](const state_access& access) {
    return access.updates && access.state->op().state_kind == resource::variable;
  });
}

// Finds the members of a collective group: a step that needs one of them needs all.
class peer_finder {
public:
  explicit peer_finder(const graph& source) : source_(source) {}

  const std::vector<node*>& peers_of(const node& node) {
    if (groups_.empty())
      for (const auto& candidate : source_.nodes())
        if (is_collective(candidate->op()))
          groups_[keys_of(*candidate)].push_back(candidate.get());
    return groups_[keys_of(node)];
  }

private:
  using keys = std::pair<int64_t, int64_t>;
  static keys keys_of(const node& node) {
    return {node.attr<int64_t>("group_key"), node.attr<int64_t>("instance_key")};
  }
  const graph& source_;
  std::map<keys, std::vector<node*>> groups_; // collected on first use
};

// Keeps the order, except that an update is delayed until no other node is ready.
std::vector<node*> delay_updates(const graph& source, const std::vector<node*>& order) {
  if (std::ranges::none_of(order, [](auto* candidate) { return updates_variable(*candidate); }))
    return order;
  constexpr size_t not_included = SIZE_MAX;
  std::vector<size_t> position(source.nodes().size(), not_included),
      missing_counts(order.size(), 0);
  std::vector<std::vector<size_t>> successors(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    position[static_cast<size_t>(order[i]->id())] = i;
  for (size_t i = 0; i < order.size(); ++i) {
    auto add_predecessor = [&](const node& before) {
      if (auto predecessor_position = position[static_cast<size_t>(before.id())];
          predecessor_position != not_included) {
        successors[predecessor_position].push_back(i);
        ++missing_counts[i];
      }
    };
    for (const auto& input : order[i]->inputs())
      add_predecessor(*input.node);
    for (const auto* before : order[i]->controls())
      add_predecessor(*before);
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready, updates;
  auto add = [&](size_t i) { (updates_variable(*order[i]) ? updates : ready).push(i); };
  for (size_t i = 0; i < order.size(); ++i)
    if (missing_counts[i] == 0)
      add(i);
  std::vector<node*> result_order;
  while (!ready.empty() || !updates.empty()) {
    auto& queue = ready.empty() ? updates : ready;
    auto next = queue.top();
    queue.pop();
    result_order.push_back(order[next]);
    for (auto i : successors[next])
      if (--missing_counts[i] == 0)
        add(i);
  }
  return result_order;
}

status check_feeds(const graph& source, const step_signature& signature) {
  for (size_t i = 0; i < signature.feeds.size(); ++i) {
    auto fed = signature.feeds[i];
    if (!fed.exists() || &fed.node->graph() != &source)
      return invalid("feed ", i, " is an empty edge or belongs to another graph");
    if (auto* state = fed.node->output_is_ref(fed.index) ? resource_behind(fed) : nullptr;
        state && state->op().state_kind != resource::variable)
      return invalid("feed ", i, ": ", state->description(), " is a ",
                     to_string(state->op().state_kind), ", which cannot be fed");
    if (contains_edge(std::span{signature.feeds}.first(i), fed))
      return invalid("'", fed, "' is fed twice");
  }
  return {};
}

} // namespace

result<std::vector<node*>> prune(const graph& source, const step_signature& signature) {
  auto is_fed = [&](edge candidate) { return contains_edge(signature.feeds, candidate); };
  TROUPE_TRY(check_feeds(source, signature));
  std::vector<node*> pending;
  for (size_t i = 0; i < signature.fetches.size(); ++i) {
    auto fetched = signature.fetches[i];
    if (!fetched.exists() || &fetched.node->graph() != &source)
      return invalid("fetch ", i, " is an empty edge or belongs to another graph");
    if (auto* state =
            fetched.node->output_is_ref(fetched.index) ? resource_behind(fetched) : nullptr;
        state && state->op().state_kind != resource::variable)
      return invalid("fetch ", i, ": ", state->description(), " is a ",
                     to_string(state->op().state_kind), ", which has no value");
    if (!is_fed(fetched))
      pending.push_back(fetched.node);
  }
  for (size_t i = 0; i < signature.targets.size(); ++i) {
    if (!signature.targets[i] || &signature.targets[i]->graph() != &source)
      return invalid("target ", i, " is not a node of this graph");
    pending.push_back(signature.targets[i]);
  }
  if (signature.fetches.empty() && signature.targets.empty())
    return invalid("a step needs at least one fetch or target");

  peer_finder groups{source};
  std::vector<bool> needed(source.nodes().size(), false);
  while (!pending.empty()) {
    auto* visited = pending.back();
    pending.pop_back();
    auto is_visited = needed[static_cast<size_t>(visited->id())];
    if (is_visited)
      continue;
    needed[static_cast<size_t>(visited->id())] = true;
    if (has(visited->op().effects, effect::must_be_fed))
      return invalid(visited->description(), ": must be fed with ", visited->output_type(0),
                     visited->output_shape(0), ", and is not");
    if (is_collective(visited->op()))
      std::ranges::copy(groups.peers_of(*visited), std::back_inserter(pending));
    for (int i = 0; i < static_cast<int>(visited->inputs().size()); ++i) {
      const auto& input = visited->inputs()[static_cast<size_t>(i)];
      if (!is_fed(input))
        pending.push_back(input.node);
      else if (visited->input_is_ref(i))
        return invalid(visited->description(), " takes the variable '", input,
                       "' itself, and not its value, which is fed: run it in another step");
    }
    for (auto* before : visited->controls())
      // A fed placeholder has its value before the step starts, so waiting for it is not needed.
      if (!(has(before->op().effects, effect::must_be_fed) && is_fed({before, 0})))
        pending.push_back(before);
  }
  TROUPE_ASSIGN(auto order, topological_order(source));
  std::erase_if(order, [&](node* node) { return !needed[static_cast<size_t>(node->id())]; });
  return delay_updates(source, order);
}

} // namespace troupe
