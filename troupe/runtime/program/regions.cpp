#include "troupe/runtime/program/regions.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/program/branches.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace troupe {
namespace {

using label_set = std::vector<uint32_t>; // sorted

// Each distinct set of waits and branches is one region.
class interner {
public:
  interner() { id_of({}); }
  uint32_t id_of(const label_set& labels) {
    auto [it, fresh] = ids_.emplace(labels, static_cast<uint32_t>(sets_.size()));
    if (fresh)
      sets_.push_back(labels);
    return it->second;
  }
  uint32_t join(uint32_t a, uint32_t b) {
    if (a == b || b == 0)
      return a;
    if (a == 0)
      return b;
    auto [it, fresh] = joined_.emplace(std::minmax(a, b), 0);
    if (fresh) {
      label_set both;
      std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(both));
      it->second = id_of(both);
    }
    return it->second;
  }
  uint32_t with(uint32_t a, uint32_t label) {
    label_set more = sets_[a];
    more.insert(std::ranges::lower_bound(more, label), label);
    return id_of(more);
  }
  uint32_t size() const { return static_cast<uint32_t>(sets_.size()); }

private:
  std::map<label_set, uint32_t> ids_;
  std::vector<label_set> sets_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> joined_;
};

// Labels each node with all waits and branches on its ways.
class labeller {
public:
  explicit labeller(const graph& of) : graph_(of) {
    found_.of.resize(of.nodes().size());
    found_.issued_from.resize(of.nodes().size());
  }

  region_map run(const std::vector<uint32_t>& branches) {
    for (const auto& node : graph_.nodes()) {
      auto id = static_cast<size_t>(node->id());
      uint32_t set = 0;
      for (const auto& input : node->inputs())
        set = sets_.join(set, found_.of[static_cast<size_t>(input.node->id())]);
      for (auto* before : node->controls())
        set = sets_.join(set, found_.of[static_cast<size_t>(before->id())]);
      if (!branches.empty() && branches[id])
        set = sets_.with(set, static_cast<uint32_t>(graph_.nodes().size()) + branches[id]);
      found_.issued_from[id] = set;
      found_.of[id] = has(node->op().effects, effect::blocking)
                          ? sets_.with(set, static_cast<uint32_t>(id))
                          : set;
    }
    close_gaps();
    return std::move(found_);
  }

private:
  // Sets that only came up on the way have no nodes.
  void close_gaps() {
    std::vector<bool> used(sets_.size(), false);
    used[0] = true;
    for (auto* list : {&found_.of, &found_.issued_from})
      for (auto set : *list)
        used[set] = true;
    std::vector<uint32_t> dense(sets_.size(), 0);
    for (uint32_t set = 0; set < sets_.size(); ++set)
      if (used[set])
        dense[set] = found_.count++;
    for (auto* list : {&found_.of, &found_.issued_from})
      for (auto& set : *list)
        set = dense[set];
  }

  const graph& graph_;
  region_map found_;
  interner sets_;
};

// What has no work of its own stays in the region that starts the step.
region_map one_per_node(const graph& of) {
  region_map found;
  found.count = 1;
  for (const auto& node : of.nodes()) {
    auto own = is_at_hand(*node) ? 0 : found.count++;
    found.of.push_back(own);
    found.issued_from.push_back(own);
    if (has(node->op().effects, effect::blocking)) // and one for its answer
      found.of.back() = found.count++;
  }
  return found;
}

} // namespace

bool is_at_hand(const node& node) {
  return &node.op() == &internal_ops::feed ||
         (node.op().makes != resource::none && node.controls().empty());
}

double worth_dispatching(const region_options& options) { return 3 * options.dispatch_ns; }

region_map find_regions(const graph& of, const region_options& options) {
  if (options.one_per_node)
    return one_per_node(of);
  auto waits = labeller{of}.run({});
  if (options.workers < 2)
    return waits;
  auto branches = find_branches(of, waits.of, options);
  return std::ranges::any_of(branches, [](uint32_t group) { return group != 0; })
             ? labeller{of}.run(branches)
             : waits;
}

} // namespace troupe
