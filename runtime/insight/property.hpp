// A named value, used in inspections and in log events.
#pragma once
#include <cstdint>
#include <string>
#include <variant>

namespace troupe {

using property_value = std::variant<bool, int64_t, double, std::string>;

struct property {
  std::string name; ///< "steps_running"; includes the unit: "wait_seconds", "bytes"
  property_value value;
  bool operator==(const property&) const = default;
};

} // namespace troupe
