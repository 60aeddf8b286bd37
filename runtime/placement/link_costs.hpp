// The time to move tensors between tasks.
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/insight/link_times.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace troupe {

struct link_cost {
  double latency_ns = 0;  ///< of a tensor without elements
  double ns_per_byte = 0; ///< in addition

  double transfer_ns(double bytes) const noexcept { return latency_ns + bytes * ns_per_byte; }
};

/// Between two processes of one machine. The latency is measured by bench/exchange for small
/// tensors; the rate is that of 10 Gbit/s Ethernet, so that nodes do not move for a small gain.
inline constexpr link_cost default_link{50'000, 0.8};

/// By ordered pair of tasks. Links that are not known have the usual cost.
class link_costs {
public:
  static constexpr size_t max_links = 65'536; ///< further links are ignored

  explicit link_costs(link_cost usual = default_link) : usual_(usual) {}

  /// Takes the measured costs, and the usual cost for missing measurements.
  static link_costs from(const std::vector<link_time>& measured, link_cost usual = default_link);

  void set(const task_name& from, const task_name& to, link_cost cost) {
    if (known_.size() < max_links || known_.contains({from, to}))
      known_[{from, to}] = cost;
  }
  const link_cost& default_cost() const noexcept { return usual_; }
  const std::map<std::pair<task_name, task_name>, link_cost>& known() const noexcept {
    return known_;
  }

private:
  link_cost usual_;
  std::map<std::pair<task_name, task_name>, link_cost> known_;
};

} // namespace troupe
