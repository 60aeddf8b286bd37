// How long nodes took in the steps that were measured.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace troupe {

struct node_time {
  std::string node = {}; ///< its name
  std::string device = {};
  uint64_t runs = 0; ///< that were measured
  double mean_ns = 0;
  double mean_bytes = 0; ///< of new memory
};

/// Means over all steps that were added. Any thread may call.
class TROUPE_API node_times {
public:
  void add(const step_statistics& step);
  /// Means over runs that somebody else has measured, weighed by their number.
  void add(const node_time& known);
  /// What is known of a node, on whatever device it ran last.
  std::optional<node_time> find(std::string_view node) const;
  /// By name.
  std::vector<node_time> all() const;
  bool empty() const;

private:
  void add(const node_time& known, std::lock_guard<std::mutex>&);

  mutable std::mutex mutex_;
  std::map<std::string, node_time, std::less<>> times_;
};

} // namespace troupe
