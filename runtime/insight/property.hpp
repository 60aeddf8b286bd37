// A named value, as people and their tools are told of parts of a cluster and of events.
#pragma once
#include <cstdint>
#include <string>
#include <variant>

namespace troupe {

using property_value = std::variant<bool, int64_t, double, std::string>;

struct property {
  std::string name; ///< "steps_running"; units stand in it: "wait_seconds", "bytes"
  property_value value;
  bool operator==(const property&) const = default;
};

} // namespace troupe
