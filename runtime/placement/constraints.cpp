#include "troupe/runtime/placement/constraints.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace troupe {
namespace {

// Returns whether a node must be placed with a state that it uses. It must if it takes the variable
// itself, or reads the value through a handle, since it may read only a few rows. A node that reads
// through a handle may be on another device if it names that device.
bool stays_with(const node& user, const state_access& access, bool is_frame) {
  return (!is_frame && user.input_is_ref(access.input)) ||
         (user.input_port(access.input).handle &&
          (user.device().empty() || user.device() == access.state->device()));
}

// "localhost" is TensorFlow's name of the local process; here it is the only task of a local
// session.
void name_local_task(device_name& name) {
  if (name.job == "localhost" && name.task <= 0)
    name.job = local_job;
}

struct requested_device {
  device_name asked, required;
};

result<requested_device> parse_requested(const std::string& text, bool local) {
  TROUPE_ASSIGN(auto asked, device_name::parse(text));
  requested_device parsed{std::move(asked), required_device(text)};
  if (local) {
    name_local_task(parsed.asked);
    name_local_task(parsed.required);
  }
  return parsed;
}

// Caches parsed names, since a graph has many nodes and few different devices.
class parsed_devices {
public:
  explicit parsed_devices(bool local) : local_(local) {}

  const result<requested_device>& of(const std::string& text) {
    auto known = known_.find(text);
    return known != known_.end()
               ? known->second
               : known_.emplace(text, parse_requested(text, local_)).first->second;
  }

private:
  bool local_;
  std::unordered_map<std::string, result<requested_device>> known_;
};

// Adds a request to a set. An earlier preference wins unless it contradicts a requirement.
status add_request(node_set& set, const requested_device& request) {
  TROUPE_ASSIGN(set.required, merge(set.required, request.required));
  if (auto merged = merge(set.asked, request.asked))
    set.asked = *std::move(merged);
  else if (auto without_preference = merge(set.asked, request.required))
    set.asked = *std::move(without_preference);
  else if (auto new_preference = merge(set.required, request.asked))
    set.asked = *std::move(new_preference);
  else
    set.asked = set.required;
  return {};
}

} // namespace

int node_sets::root(int id) {
  auto parent_of = [this](int node_id) -> int& { return parent_[static_cast<size_t>(node_id)]; };
  while (parent_of(id) != id) {
    parent_of(id) = parent_of(parent_of(id));
    id = parent_of(id);
  }
  return id;
}

void node_sets::join(int a, int b, colocation_reason kind) {
  auto first = root(a), second = root(b);
  if (first == second)
    return;
  parent_[static_cast<size_t>(first)] = second;
  links_[a].push_back({b, kind});
  links_[b].push_back({a, kind});
}

result<node_sets> node_sets::find(const graph& placed, const device_list& devices) {
  node_sets result_sets;
  result_sets.parent_.resize(placed.nodes().size());
  std::iota(result_sets.parent_.begin(), result_sets.parent_.end(), 0);
  std::unordered_map<std::string_view, int> groups; // by name: a node of the group
  for (const auto& node : placed.nodes()) {
    auto is_frame = needs_frame(*node, devices);
    for (const auto& access : accesses_of(*node))
      if (stays_with(*node, access, is_frame))
        result_sets.join(node->id(), node->inputs()[static_cast<size_t>(access.input)].node->id(),
                         colocation_reason::state);
    for (auto name : colocated_with(*node)) {
      auto group = groups.find(name);
      if (group == groups.end()) {
        // The node that the group is named after may not be part of the step.
        auto* leader = placed.find(name);
        auto is_placed = leader && !internal_ops::is_boundary(*leader);
        group = groups.emplace(name, is_placed ? leader->id() : node->id()).first;
      }
      result_sets.join(node->id(), group->second, colocation_reason::group);
    }
  }
  auto local = is_local(devices);
  parsed_devices names{local};
  std::vector<int> set_of_root(placed.nodes().size(), -1);
  result_sets.set_of_.resize(placed.nodes().size(), -1);
  for (const auto& node : placed.nodes()) {
    if (internal_ops::is_boundary(*node))
      continue;
    auto& index = set_of_root[static_cast<size_t>(result_sets.root(node->id()))];
    if (index < 0) {
      index = static_cast<int>(result_sets.sets_.size());
      result_sets.sets_.emplace_back();
    }
    result_sets.set_of_[node->index()] = index;
    auto& set = result_sets.sets_[static_cast<size_t>(index)];
    const auto& request = names.of(node->device());
    if (!request)
      return with_node_context(*node, request.status());
    if (!add_request(set, *request))
      return result_sets.contradiction(placed, set, *node, local);
    set.members.push_back(node.get());
  }
  return result_sets;
}

node_sets::reason node_sets::reason_of(const node& member) const {
  auto neighbours = links_.find(member.id());
  if (neighbours == links_.end())
    return {};
  // The reason is the earliest neighbour, if it comes before the node itself.
  const auto& first = *std::ranges::min_element(neighbours->second, {}, &link::to);
  if (first.to > member.id())
    return {};
  return {first.kind, member.graph().nodes()[static_cast<size_t>(first.to)].get()};
}

// Searches breadth first for a shortest chain.
std::string node_sets::chain(const graph& placed, int from, int to) const {
  std::unordered_map<int, link> came_by{{from, {from, colocation_reason::none}}};
  std::deque<int> open{from};
  while (!open.empty() && !came_by.contains(to)) {
    auto current = open.front();
    open.pop_front();
    if (auto neighbours = links_.find(current); neighbours != links_.end())
      for (const auto& next : neighbours->second)
        if (came_by.try_emplace(next.to, link{current, next.kind}).second)
          open.push_back(next.to);
  }
  std::string text;
  for (auto current = to; current != from;) {
    auto step = came_by.at(current);
    auto name = [&](int id) { return placed.nodes()[static_cast<size_t>(id)]->name(); };
    auto later = std::max(current, step.to), earlier = std::min(current, step.to);
    text += concat(text.empty() ? "" : ", ", '\'', name(later),
                   step.kind == colocation_reason::state ? "' uses the state of '"
                                                         : "' is colocated with '",
                   name(earlier), '\'');
    current = step.to;
  }
  return text;
}

status node_sets::contradiction(const graph& placed, const node_set& set, const node& last,
                                bool local) const {
  auto required = parse_requested(last.device(), local)->required;
  // Each part of the set's request comes from one of its members.
  auto other = std::ranges::find_if(set.members, [&](const node* member) {
    return !merge(parse_requested(member->device(), local)->required, required);
  });
  if (other == set.members.end())
    return failure(error_kind::internal, last.description(), ": contradicts no node of its set");
  return with_node_context(last,
                           invalid("must be placed with ", (*other)->description(),
                                   ", but asks for '", last.device(), "', and that one for '",
                                   (*other)->device(), "': the devices contradict each other; ",
                                   chain(placed, (*other)->id(), last.id())));
}

} // namespace troupe
