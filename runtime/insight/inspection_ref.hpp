// Names of the parts of a cluster that can be inspected, as paths from the root.
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One segment of the path: "/queue:rows".
struct ref_part {
  std::string kind; ///< lower-case letters and underscores
  std::string id;   ///< any text; written with %XX for characters that a URL cannot hold
  bool operator==(const ref_part&) const = default;
};

/// "/job:ps/task:0/container:trial/variable:hidden%2Fweights"; "/" is the cluster. The names of
/// tasks and devices are valid refs.
struct inspection_ref {
  static constexpr size_t max_parts = 8, max_text = 4096;

  std::vector<ref_part> parts;

  /// Parses a ref, with or without its leading slash. Fails with invalid_argument and names the
  /// part that is wrong.
  static result<inspection_ref> parse(std::string_view text);
  static inspection_ref of(const task_name& task);

  /// The task that the ref names or is within.
  std::optional<task_name> task() const;
  /// The parts after the task.
  std::span<const ref_part> within_task() const;
  inspection_ref operator/(ref_part part) const;
  bool operator==(const inspection_ref&) const = default;
};

std::string to_string(const inspection_ref& ref);

} // namespace troupe
