// The transfer encoding of single nodes: the attribute _f32_transfer, which nodes of any op may
// have, is the name of an f32_transfer.
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <optional>
#include <string_view>

namespace troupe {

inline constexpr std::string_view transfer_attr = "_f32_transfer";

/// Returns the encoding of the node's outputs; nullopt: that of the session.
TROUPE_API std::optional<f32_transfer> transfer_of(const node& sender);

/// Returns the attribute alone, for a node that replaces this one.
attr_map transfer_attr_of(const node& sender);

/// Fails if the value is no name of an encoding.
status check_transfer(const attr_value& value);

} // namespace troupe
