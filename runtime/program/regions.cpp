#include "troupe/runtime/program/regions.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/program/branches.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace troupe {
namespace {

// Sets of waits and branches: equal sets have equal numbers. They are tries over the bits of their
// labels that share what they have in common (Okasaki and Gill, Fast Mergeable Integer Maps, 1998),
// so that a set which grows by one label takes a few words, however large it is.
class interner {
public:
  uint32_t join(uint32_t a, uint32_t b) {
    if (a == b || b == empty)
      return a;
    if (a == empty)
      return b;
    auto [it, fresh] = joined_.emplace(pair(std::min(a, b), std::max(a, b)), 0);
    if (!fresh)
      return it->second;
    auto made = united(a, b);
    joined_[pair(std::min(a, b), std::max(a, b))] = made;
    return made;
  }
  uint32_t with(uint32_t a, uint32_t label) { return join(a, only(label)); }
  uint32_t size() const { return static_cast<uint32_t>(tries_.size()); }

private:
  static constexpr uint32_t empty = 0;

  // Labels that agree in the bits above `bit`, which are in `prefix`; a single one where it is 0.
  struct trie {
    uint32_t prefix = 0, bit = 0;
    uint32_t without = empty, with = empty; // the bit
  };

  static uint64_t pair(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }
  static uint32_t above(uint32_t bit, uint32_t label) { return label & ~(bit | (bit - 1)); }

  uint32_t add(const trie& one) {
    tries_.push_back(one);
    return size() - 1;
  }
  uint32_t only(uint32_t label) {
    auto [it, fresh] = single_.emplace(label, 0);
    if (fresh)
      it->second = add({.prefix = label});
    return it->second;
  }
  uint32_t branch(uint32_t prefix, uint32_t bit, uint32_t without, uint32_t with) {
    auto [it, fresh] = branches_.emplace(pair(without, with), 0);
    if (fresh)
      it->second = add({prefix, bit, without, with});
    return it->second;
  }
  // The second lies within one half of the first.
  uint32_t within(const trie& at, uint32_t b) {
    return tries_[b].prefix & at.bit ? branch(at.prefix, at.bit, at.without, join(at.with, b))
                                     : branch(at.prefix, at.bit, join(at.without, b), at.with);
  }
  uint32_t united(uint32_t a, uint32_t b) {
    auto x = tries_[a], y = tries_[b]; // copies: the list grows
    if (x.bit > y.bit && above(x.bit, y.prefix) == x.prefix)
      return within(x, b);
    if (y.bit > x.bit && above(y.bit, x.prefix) == y.prefix)
      return within(y, a);
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
    constexpr auto absent = UINT32_MAX;
    std::vector<uint32_t> dense(sets_.size(), absent);
    dense[0] = found_.count++;
    for (size_t id = 0; id < found_.of.size(); ++id)
      for (auto* set : {&found_.issued_from[id], &found_.of[id]}) {
        auto& number = dense[*set];
        if (number == absent)
          number = found_.count++;
        *set = number;
      }
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
         (node.op().makes != resource::none && !node.op().ask && node.controls().empty());
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
