// What there is to see of one part of a cluster: of the cluster itself, a task, a device, a link, a
// step, a queue. One shape for all of them.
#pragma once
#include "troupe/runtime/insight/property.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

struct inspection {
  std::string ref;  ///< "/job:ps/task:0/container:trial/queue:rows" (inspection_ref.hpp)
  std::string kind; ///< "task", "queue"
  std::vector<property> properties = {};
  std::vector<inspection> children = {}; ///< of the deepest that were asked for, ref and kind alone
  uint64_t left_out = 0;                 ///< children beyond the limit

  /// Says what a property of that name is, or nullptr.
  const property_value* find(std::string_view name) const noexcept {
    for (const auto& one : properties)
      if (one.name == name)
        return &one.value;
    return nullptr;
  }
  void add(std::string name, property_value value) {
    properties.push_back({std::move(name), std::move(value)});
  }
  bool operator==(const inspection&) const = default;
};

/// Which of the parts below one are told.
struct inspection_scope {
  int depth = 1;         ///< 0: the names of its children
  std::string only = {}; ///< kinds, "step,wait"; empty: all

  bool includes(std::string_view kind) const noexcept;
  bool operator==(const inspection_scope&) const = default;
};

/// As a number: 0 for what is none.
double number_of(const property_value* value) noexcept;
/// As a text; empty for what is none.
std::string text_of(const property_value* value);

/// Bounds of what one answer holds.
struct inspection_limits {
  static constexpr size_t children = 10'000; ///< of one part
  static constexpr size_t parts = 50'000;    ///< of all
  static constexpr int depth = 8;
};

} // namespace troupe
