// Colocation constraints between nodes (white paper 4.3) in TensorFlow's format: the attribute
// _class, which nodes of any op may have, lists "loc:@name".
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <string_view>
#include <vector>

namespace troupe {

inline constexpr std::string_view colocation_attr = "_class", colocation_prefix = "loc:@";

/// Returns the groups that a node joins besides the group of its own name. A group is named after a
/// node. The group exists even if that node is not part of the step.
TROUPE_API std::vector<std::string_view> colocated_with(const node& member);

/// Adds groups to a node's attributes, each once.
TROUPE_API void add_colocation(attr_map& attrs, const std::vector<std::string>& names);

/// Fails if the value is no list of "loc:@name".
TROUPE_API status check_colocation(const attr_value& value);

} // namespace troupe
