// Complete and partial names of devices: "/job:worker/task:1/device:cpu:0", "/job:ps", "/cpu:0".
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/status.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace troupe {

/// A process of a cluster.
struct task_name {
  std::string job;
  int task = 0;
  auto operator<=>(const task_name&) const = default;
};

/// Prints "/job:worker/task:1".
TROUPE_API std::string to_string(const task_name& task);
TROUPE_API std::ostream& operator<<(std::ostream& out, const task_name& task);

/// A device, or a set of devices: an empty or negative field matches any value.
struct TROUPE_API device_name {
  std::string job;
  int task = -1;
  std::string kind; ///< "cpu", "gpu"
  int ordinal = -1;

  /// Parses parts in any order: /job:J /task:N (or /replica, which must be 0) /device:K:N /cpu:N
  /// /gpu:N.
  static result<device_name> parse(std::string_view text);

  bool is_complete() const noexcept {
    return !job.empty() && task >= 0 && !kind.empty() && ordinal >= 0;
  }
  bool matches(const device_name& complete) const noexcept; ///< whether no part contradicts
  task_name name_of_task() const { return {job, task}; }
  auto operator<=>(const device_name&) const = default;
};

TROUPE_API std::string to_string(const device_name& name);
TROUPE_API std::ostream& operator<<(std::ostream& out, const device_name& name);

/// Combines two partial names. Fails if they contradict each other.
TROUPE_API result<device_name> merge(const device_name& a, const device_name& b);

} // namespace troupe
