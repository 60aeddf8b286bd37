#include "troupe/runtime/regions.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace troupe {
namespace {

using wait_set = std::vector<uint32_t>; // sorted

// Each distinct set of waits is one region.
class interner {
public:
  interner() { id_of({}); }
  uint32_t id_of(const wait_set& waits) {
    auto [it, fresh] = ids_.emplace(waits, static_cast<uint32_t>(sets_.size()));
    if (fresh)
      sets_.push_back(waits);
    return it->second;
  }
  uint32_t join(uint32_t a, uint32_t b) {
    if (a == b || b == 0)
      return a;
    if (a == 0)
      return b;
    auto [it, fresh] = joined_.emplace(std::minmax(a, b), 0);
    if (fresh) {
      wait_set both;
      std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(both));
      it->second = id_of(both);
    }
    return it->second;
  }
  uint32_t with(uint32_t a, uint32_t wait) {
    wait_set more = sets_[a];
    more.insert(std::ranges::upper_bound(more, wait), wait);
    return id_of(more);
  }
  uint32_t size() const { return static_cast<uint32_t>(sets_.size()); }

private:
  std::map<wait_set, uint32_t> ids_;
  std::vector<wait_set> sets_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> joined_;
};

} // namespace

region_map find_regions(const graph& of) {
  region_map found;
  found.of.resize(of.nodes().size());
  found.issued_from.resize(of.nodes().size());
  interner sets;
  std::vector<bool> used(1, true);
  auto use = [&](uint32_t set) {
    if (used.size() <= set)
      used.resize(set + 1, false);
    used[set] = true;
  };
  for (const auto& at : of.nodes()) {
    uint32_t set = 0;
    for (const auto& input : at->inputs())
      set = sets.join(set, found.of[static_cast<size_t>(input.node->id())]);
    for (auto* before : at->controls())
      set = sets.join(set, found.of[static_cast<size_t>(before->id())]);
    auto id = static_cast<size_t>(at->id());
    found.issued_from[id] = set;
    found.of[id] = has(at->op().effects, effect::blocking)
                       ? sets.with(set, static_cast<uint32_t>(id))
                       : set;
    use(found.issued_from[id]);
    use(found.of[id]);
  }
  // Sets that only came up on the way have no nodes: close the gaps.
  used.resize(sets.size(), false);
  std::vector<uint32_t> dense(sets.size(), 0);
  for (uint32_t set = 0; set < sets.size(); ++set)
    if (used[set])
      dense[set] = found.count++;
  for (auto* list : {&found.of, &found.issued_from})
    for (auto& set : *list)
      set = dense[set];
  return found;
}

} // namespace troupe
