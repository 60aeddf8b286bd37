// The visible properties of one part of a cluster: of the cluster itself, a task, a device, a link,
// a step or a queue. All parts have the same form.
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
  std::vector<inspection> children = {}; ///< at the depth limit with ref and kind only
  uint64_t omitted_children = 0;         ///< number of children beyond the limit

  /// Returns the value of the property of that name, or nullptr.
  const property_value* find(std::string_view name) const noexcept {
    for (const auto& candidate : properties)
      if (candidate.name == name)
        return &candidate.value;
    return nullptr;
  }
  void add(std::string name, property_value value) {
    properties.push_back({std::move(name), std::move(value)});
  }
  bool operator==(const inspection&) const = default;
};

/// Selects the parts below a part that an inspection includes.
struct inspection_scope {
  int depth = 1;          ///< 0: the names of its children
  std::string kinds = {}; ///< kinds, separated by commas: "step,wait"; empty: every kind

  bool includes(std::string_view kind) const noexcept;
  bool operator==(const inspection_scope&) const = default;
};

/// Returns the value as a number; 0 for nullptr and for texts.
double number_of(const property_value* value) noexcept;
/// Returns the value if it is a text; an empty text otherwise.
std::string text_of(const property_value* value);

/// Limits of one answer.
struct inspection_limits {
  static constexpr size_t children = 10'000; ///< of one part
  static constexpr size_t parts = 50'000;    ///< of one answer
  static constexpr int depth = 8;
};

} // namespace troupe
