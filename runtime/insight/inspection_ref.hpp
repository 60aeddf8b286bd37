// Names of all that can be inspected, as paths from the root of the cluster.
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One step of the way: "/queue:rows".
struct ref_part {
  std::string kind; ///< lower-case letters and underscores
  std::string id;   ///< anything; what a URL cannot hold is written as %XX
  bool operator==(const ref_part&) const = default;
};

/// "/job:ps/task:0/container:trial/variable:hidden%2Fweights"; "/" is the cluster. Names of tasks
/// and devices are refs as they are.
struct inspection_ref {
  static constexpr size_t max_parts = 8, max_text = 4096;

  std::vector<ref_part> parts;

  /// Reads a ref, with or without the slash that it begins with. Fails with invalid_argument, and
  /// says where.
  static result<inspection_ref> parse(std::string_view text);
  static inspection_ref of(const task_name& task);

  /// The task that it leads to, or into.
  std::optional<task_name> task() const;
  /// What follows the task.
  std::span<const ref_part> within_task() const;
  inspection_ref operator/(ref_part more) const;
  bool operator==(const inspection_ref&) const = default;
};

std::string to_string(const inspection_ref& ref);

} // namespace troupe
