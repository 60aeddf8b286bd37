// Measured times of transfers of tensors between tasks.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// The times from one task to another: "/job:ps/task:0", "/job:worker/task:1".
struct link_time {
  std::string from = {}, to = {};
  uint64_t small_count = 0, large_count = 0; ///< numbers of measured tensors
  double latency_ns = 0;                     ///< mean time of small tensors, up to 4 KiB
  double ns_per_byte = 0;                    ///< of large tensors, from 64 KiB, without the latency
};

/// Means over the steps that were added, weighted towards recent steps. A time runs from the moment
/// at which one task hands the tensor over until the other task has it, so it includes the time in
/// which the receiver is busy. The clocks of tasks agree up to half a round trip. Any thread may
/// call.
class TROUPE_API link_times {
public:
  static constexpr size_t max_links = 65'536; ///< further links are ignored

  void add(const step_statistics& step);
  std::vector<link_time> list() const;
  bool empty() const;

private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, link_time> links_;
};

} // namespace troupe
