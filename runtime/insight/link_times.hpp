// How long tensors took from one task to another in the steps that were measured.
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

/// From one task to another: "/job:ps/task:0", "/job:worker/task:1".
struct link_time {
  std::string from = {}, to = {};
  uint64_t small = 0, large = 0; ///< how many tensors were measured
  double latency_ns = 0;         ///< of small ones: up to 4 KiB
  double ns_per_byte = 0;        ///< of large ones, from 64 KiB, beside the latency
};

/// Means over all steps that were added, those of late counting more. From the moment in which a
/// task hands a tensor over to that in which the other has it, so that what a receiver was busy
/// with counts, too; the clocks of tasks agree up to half a round trip. Any thread may call.
class TROUPE_API link_times {
public:
  static constexpr size_t max_links = 65'536; ///< further ones are passed over

  void add(const step_statistics& step);
  std::vector<link_time> all() const;
  bool empty() const;

private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, link_time> links_;
};

} // namespace troupe
