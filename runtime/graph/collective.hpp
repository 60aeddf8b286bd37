// Collective operations in graphs.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe {

/// Whether nodes of the op wait for their peers on other devices.
bool is_collective(const op_def& op) noexcept;

} // namespace troupe
