// What it takes to move tensors from one task to another.
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/insight/link_times.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace troupe {

struct link_cost {
  double latency_ns = 0;  ///< until a tensor without elements is there
  double ns_per_byte = 0; ///< beside that

  double of(double bytes) const noexcept { return latency_ns + bytes * ns_per_byte; }
};

/// Between two processes of one machine: what bench/exchange measured there for small tensors, and
/// for large ones the rate of 10 Gbit/s Ethernet, so that nodes do not go far for little.
inline constexpr link_cost usual_link{50'000, 0.8};

/// By pair of tasks, in one direction each. Where nothing is known, all links are alike.
class link_costs {
public:
  static constexpr size_t max_links = 65'536; ///< what comes beyond is passed over

  explicit link_costs(link_cost usual = usual_link) : usual_(usual) {}

  /// What was measured, and the usual for what was not.
  static link_costs from(const std::vector<link_time>& measured, link_cost usual = usual_link);

  void set(const task_name& from, const task_name& to, link_cost cost) {
    if (known_.size() < max_links || known_.contains({from, to}))
      known_[{from, to}] = cost;
  }
  const link_cost& usual() const noexcept { return usual_; }
  const std::map<std::pair<task_name, task_name>, link_cost>& known() const noexcept {
    return known_;
  }

private:
  link_cost usual_;
  std::map<std::pair<task_name, task_name>, link_cost> known_;
};

} // namespace troupe
