// Divides items in two sides at the least total cost.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe {

/// Each item goes to one of two sides and has a cost on each; pairs of items on different sides
/// cost more. The best division is a minimum cut of a network (Stone 1977, "Multiprocessor
/// scheduling with the aid of network flow algorithms").
class minimum_cut {
public:
  static constexpr int64_t never = INT64_C(1) << 50; ///< a cost that no sum of others reaches

  minimum_cut();
  ~minimum_cut();

  /// Returns the item's number: 0, 1 ...
  size_t add_item(int64_t cost_on_first, int64_t cost_on_second);
  /// Adds a cost for the case that `first_item` is on the first side and `second_item` on the
  /// second.
  void add_cost(size_t first_item, size_t second_item, int64_t cost);
  /// Returns for each item whether it is on the first side; ties go to the second side.
  std::vector<bool> solve();

private:
  struct network;
  std::unique_ptr<network> network_;
};

} // namespace troupe
