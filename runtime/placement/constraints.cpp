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

// Who takes a variable itself, or the value behind a handle: what is read of it may be few rows.
// The latter may be somewhere else, if it says so.
bool stays_with(const node& at, const state_access& access, bool is_frame) {
  return (!is_frame && at.input_is_ref(access.input)) ||
         (at.input_port(access.input).handle &&
          (at.device().empty() || at.device() == access.state->device()));
}

// TensorFlow calls the process at hand so, and we the only task of a local session.
void name_local_task(device_name& name) {
  if (name.job == "localhost" && name.task <= 0)
    name.job = local_job;
}

struct asked_device {
  device_name all, required;
};

result<asked_device> parse_asked(const std::string& text, bool local) {
  TROUPE_ASSIGN(auto all, device_name::parse(text));
  asked_device parsed{std::move(all), required_device(text)};
  if (local) {
    name_local_task(parsed.all);
    name_local_task(parsed.required);
  }
  return parsed;
}

// Graphs have few different devices, and many nodes.
class parsed_devices {
public:
  explicit parsed_devices(bool local) : local_(local) {}

  const result<asked_device>& of(const std::string& text) {
    auto it = known_.find(text);
    return it != known_.end() ? it->second
                              : known_.emplace(text, parse_asked(text, local_)).first->second;
  }

private:
  bool local_;
  std::unordered_map<std::string, result<asked_device>> known_;
};

// What is preferred first stays so, as far as nothing is required that contradicts it.
status add_asked(node_set& to, const asked_device& asked) {
  TROUPE_ASSIGN(to.required, merge(to.required, asked.required));
  if (auto merged = merge(to.asked, asked.all))
    to.asked = *std::move(merged);
  else if (auto less = merge(to.asked, asked.required))
    to.asked = *std::move(less);
  else if (auto other = merge(to.required, asked.all))
    to.asked = *std::move(other);
  else
    to.asked = to.required;
  return {};
}

} // namespace

int node_sets::root(int id) {
  auto parent_of = [this](int one) -> int& { return parent_[static_cast<size_t>(one)]; };
  while (parent_of(id) != id) {
    parent_of(id) = parent_of(parent_of(id));
    id = parent_of(id);
  }
  return id;
}

void node_sets::join(int a, int b, bond why) {
  auto first = root(a), second = root(b);
  if (first == second)
    return;
  parent_[static_cast<size_t>(first)] = second;
  links_[a].push_back({b, why});
  links_[b].push_back({a, why});
}

result<node_sets> node_sets::find(const graph& of, const device_list& devices) {
  node_sets made;
  made.parent_.resize(of.nodes().size());
  std::iota(made.parent_.begin(), made.parent_.end(), 0);
  std::unordered_map<std::string_view, int> groups; // by name: who stands for it
  for (const auto& node : of.nodes()) {
    auto is_frame = needs_frame(*node, devices);
    for (const auto& access : accesses_of(*node))
      if (stays_with(*node, access, is_frame))
        made.join(node->id(), node->inputs()[static_cast<size_t>(access.input)].node->id(),
                  bond::state);
    for (auto name : colocated_with(*node)) {
      auto it = groups.find(name);
      if (it == groups.end()) {
        // The node that the group is named after may not be part of the step.
        auto* leader = of.find(name);
        auto leads = leader && !internal_ops::is_boundary(*leader);
        it = groups.emplace(name, leads ? leader->id() : node->id()).first;
      }
      made.join(node->id(), it->second, bond::group);
    }
  }
  auto local = is_local(devices);
  parsed_devices names{local};
  std::vector<int> set_of_root(of.nodes().size(), -1);
  made.set_of_.resize(of.nodes().size(), -1);
  for (const auto& node : of.nodes()) {
    if (internal_ops::is_boundary(*node))
      continue;
    auto& index = set_of_root[static_cast<size_t>(made.root(node->id()))];
    if (index < 0) {
      index = static_cast<int>(made.sets_.size());
      made.sets_.emplace_back();
    }
    made.set_of_[node->index()] = index;
    auto& set = made.sets_[static_cast<size_t>(index)];
    const auto& asked = names.of(node->device());
    if (!asked)
      return within(*node, asked.status());
    if (!add_asked(set, *asked))
      return made.contradiction(of, set, *node, local);
    set.members.push_back(node.get());
  }
  return made;
}

node_sets::reason node_sets::reason_of(const node& which) const {
  auto it = links_.find(which.id());
  if (it == links_.end())
    return {};
  // What came before it says where it goes: the least of its neighbours, if that is one.
  const auto& first = *std::ranges::min_element(it->second, {}, &link::to);
  if (first.to > which.id())
    return {};
  return {first.kind, which.graph().nodes()[static_cast<size_t>(first.to)].get()};
}

// Breadth first, so that the chain is a short one.
std::string node_sets::chain(const graph& of, int from, int to) const {
  std::unordered_map<int, link> came_by{{from, {from, bond::none}}};
  std::deque<int> open{from};
  while (!open.empty() && !came_by.contains(to)) {
    auto at = open.front();
    open.pop_front();
    if (auto it = links_.find(at); it != links_.end())
      for (const auto& next : it->second)
        if (came_by.try_emplace(next.to, link{at, next.kind}).second)
          open.push_back(next.to);
  }
  std::string text;
  for (auto at = to; at != from;) {
    auto step = came_by.at(at);
    auto name = [&](int id) { return of.nodes()[static_cast<size_t>(id)]->name(); };
    auto later = std::max(at, step.to), earlier = std::min(at, step.to);
    text += concat(text.empty() ? "" : ", ", '\'', name(later),
                   step.kind == bond::state ? "' uses the state of '" : "' is colocated with '",
                   name(earlier), '\'');
    at = step.to;
  }
  return text;
}

status node_sets::contradiction(const graph& of, const node_set& set, const node& last,
                                bool local) const {
  auto asked = parse_asked(last.device(), local)->required;
  // Each part of what the set asks comes from one of its members.
  auto other = std::ranges::find_if(set.members, [&](const node* one) {
    return !merge(parse_asked(one->device(), local)->required, asked);
  });
  if (other == set.members.end())
    return failure(error_kind::internal, last.description(), ": contradicts no node of its set");
  return within(last, invalid("must be placed with ", (*other)->description(), ", but asks for '",
                              last.device(), "', and that one for '", (*other)->device(),
                              "': the devices contradict each other; ",
                              chain(of, (*other)->id(), last.id())));
}

} // namespace troupe
