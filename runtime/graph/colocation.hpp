// Nodes that name others with which they share a device (white paper 4.3), as TensorFlow writes it:
// the attribute _class, which nodes of any op may have, lists "loc:@name".
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <string_view>
#include <vector>

namespace troupe {

inline constexpr std::string_view colocation_attr = "_class", colocation_prefix = "loc:@";

/// The groups that a node belongs to beside the one of its own name. A group is named after a node;
/// it holds also where that node is no part of the step.
TROUPE_API std::vector<std::string_view> colocated_with(const node& which);

/// Adds the groups of a node to attributes, each once.
TROUPE_API void add_colocation(attr_map& to, const std::vector<std::string>& names);

/// Fails, saying so, where the value is no list of "loc:@name".
TROUPE_API status check_colocation(const attr_value& value);

} // namespace troupe
