#include "troupe/runtime/program/regions.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/program/branches.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace troupe {
namespace {

// Numbers sets of waits and branches: equal sets have equal numbers. The sets are tries over the
// bits of their labels that share common parts (Okasaki and Gill, Fast Mergeable Integer Maps,
// 1998), so adding a label to a set takes a few words, however large the set is.
class interner {
public:
  uint32_t join(uint32_t a, uint32_t b) {
    if (a == b || b == empty)
      return a;
    if (a == empty)
      return b;
    auto [known, is_new] = joined_.emplace(pair(std::min(a, b), std::max(a, b)), 0);
    if (!is_new)
      return known->second;
    auto joined = united(a, b);
    joined_[pair(std::min(a, b), std::max(a, b))] = joined;
    return joined;
  }
  uint32_t with(uint32_t a, uint32_t label) { return join(a, single_label(label)); }
  uint32_t size() const { return static_cast<uint32_t>(tries_.size()); }

private:
  static constexpr uint32_t empty = 0;

  // Labels that agree with `prefix` in the bits above `bit`; a single label if `bit` is 0.
  struct trie {
    uint32_t prefix = 0, bit = 0;
    uint32_t without = empty, with = empty; // the labels without, and with the bit
  };

  static uint64_t pair(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }
  static uint32_t above(uint32_t bit, uint32_t label) { return label & ~(bit | (bit - 1)); }

  uint32_t add(const trie& added) {
    tries_.push_back(added);
    return size() - 1;
  }
  uint32_t single_label(uint32_t label) {
    auto [known, is_new] = single_.emplace(label, 0);
    if (is_new)
      known->second = add({.prefix = label});
    return known->second;
  }
  uint32_t branch(uint32_t prefix, uint32_t bit, uint32_t without, uint32_t with) {
    auto [known, is_new] = branches_.emplace(pair(without, with), 0);
    if (is_new)
      known->second = add({prefix, bit, without, with});
    return known->second;
  }
  // Joins two sets, of which the second belongs into one half of the first.
  uint32_t join_half(const trie& outer, uint32_t b) {
    return tries_[b].prefix & outer.bit
               ? branch(outer.prefix, outer.bit, outer.without, join(outer.with, b))
               : branch(outer.prefix, outer.bit, join(outer.without, b), outer.with);
  }
  uint32_t united(uint32_t a, uint32_t b) {
    auto x = tries_[a], y = tries_[b]; // copies, because the vector grows
    if (x.bit > y.bit && above(x.bit, y.prefix) == x.prefix)
      return join_half(x, b);
    if (y.bit > x.bit && above(y.bit, x.prefix) == y.prefix)
      return join_half(y, a);
    if (x.bit == y.bit && x.prefix == y.prefix)
      return branch(x.prefix, x.bit, join(x.without, y.without), join(x.with, y.with));
    auto bit = std::bit_floor(x.prefix ^ y.prefix);
    return x.prefix & bit ? branch(above(bit, x.prefix), bit, b, a)
                          : branch(above(bit, x.prefix), bit, a, b);
  }

  std::vector<trie> tries_{trie{}}; // the first is the empty set
  std::unordered_map<uint32_t, uint32_t> single_;
  std::unordered_map<uint64_t, uint32_t> branches_, joined_; // by two numbers
};

// Labels each node with all waits and branches on the paths to it.
class labeller {
public:
  explicit labeller(const graph& labelled) : graph_(labelled) {
    map_.region_of_node.resize(labelled.nodes().size());
    map_.issuing_region.resize(labelled.nodes().size());
  }

  region_map run(const std::vector<uint32_t>& branches) {
    for (const auto& node : graph_.nodes()) {
      auto id = static_cast<size_t>(node->id());
      uint32_t set = 0;
      for (const auto& input : node->inputs())
        set = sets_.join(set, map_.region_of_node[static_cast<size_t>(input.node->id())]);
      for (auto* before : node->controls())
        set = sets_.join(set, map_.region_of_node[static_cast<size_t>(before->id())]);
      if (!branches.empty() && branches[id])
        set = sets_.with(set, static_cast<uint32_t>(graph_.nodes().size()) + branches[id]);
      map_.issuing_region[id] = set;
      map_.region_of_node[id] = has(node->op().effects, effect::blocking)
                                    ? sets_.with(set, static_cast<uint32_t>(id))
                                    : set;
    }
    close_gaps();
    return std::move(map_);
  }

private:
  // Renumbers the sets without gaps: intermediate sets belong to no node.
  void close_gaps() {
    constexpr auto absent = UINT32_MAX;
    std::vector<uint32_t> dense(sets_.size(), absent);
    dense[0] = map_.count++;
    for (size_t id = 0; id < map_.region_of_node.size(); ++id)
      for (auto* set : {&map_.issuing_region[id], &map_.region_of_node[id]}) {
        auto& number = dense[*set];
        if (number == absent)
          number = map_.count++;
        *set = number;
      }
  }

  const graph& graph_;
  region_map map_;
  interner sets_;
};

// Puts each node into a region of its own; nodes without work stay in the region of the start.
region_map region_per_node(const graph& source) {
  region_map map;
  map.count = 1;
  for (const auto& node : source.nodes()) {
    auto node_region = needs_no_run(*node) ? 0 : map.count++;
    map.region_of_node.push_back(node_region);
    map.issuing_region.push_back(node_region);
    if (has(node->op().effects, effect::blocking)) // the answer has a region, too
      map.region_of_node.back() = map.count++;
  }
  return map;
}

} // namespace

bool needs_no_run(const node& node) {
  return &node.op() == &internal_ops::feed ||
         (node.op().state_kind != resource::none && !node.op().start_operation &&
          node.controls().empty());
}

double min_dispatch_cost(const region_options& options) { return 3 * options.dispatch_ns; }

region_map find_regions(const graph& source, const region_options& options) {
  if (options.region_per_node)
    return region_per_node(source);
  auto waits = labeller{source}.run({});
  if (options.workers < 2)
    return waits;
  auto branches = find_branches(source, waits.region_of_node, options);
  return std::ranges::any_of(branches, [](uint32_t group) { return group != 0; })
             ? labeller{source}.run(branches)
             : waits;
}

} // namespace troupe
