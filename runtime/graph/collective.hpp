// Collective operations in graphs.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe {

/// Returns whether nodes of the op wait for members of their group on other devices.
bool is_collective(const op_def& op) noexcept;

} // namespace troupe
