// How single nodes say that their floats travel between tasks: the attribute _f32_transfer, which
// nodes of any op may have, is the name of an f32_transfer.
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <optional>
#include <string_view>

namespace troupe {

inline constexpr std::string_view transfer_attr = "_f32_transfer";

/// What the node says of its outputs; nothing: they travel as the session says.
TROUPE_API std::optional<f32_transfer> transfer_of(const node& which);

/// The attribute alone, for a node that stands for that one.
attr_map transfer_attr_of(const node& which);

/// Fails, saying so, where the value names none.
status check_transfer(const attr_value& value);

} // namespace troupe
