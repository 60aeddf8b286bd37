// Divides what belongs together in two, at the least cost.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe {

/// Each item goes to one of two sides and has a cost on each; pairs that are parted cost more. The
/// best division of all is a minimum cut of a network (Stone 1977, "Multiprocessor scheduling with
/// the aid of network flow algorithms").
class minimum_cut {
public:
  static constexpr int64_t never = INT64_C(1) << 50; ///< a cost that no sum of others reaches

  minimum_cut();
  ~minimum_cut();

  /// Returns its number: 0, 1 ...
  size_t add_item(int64_t cost_on_first, int64_t cost_on_second);
  /// What it costs if `one` is on the first side and `other` on the second.
  void part(size_t one, size_t other, int64_t cost);
  /// Says of each item whether it is on the first side; where both are as good, it is not.
  std::vector<bool> solve();

private:
  struct network;
  std::unique_ptr<network> in_;
};

} // namespace troupe
