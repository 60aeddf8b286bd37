// Finds the regions that use results of collective operations, which may still be arriving when
// they begin.
#pragma once
#include "troupe/runtime/program/program.hpp"

namespace troupe {

/// Returns for each region the slots with results of collective operations that its instructions
/// use; passing a tensor on to another region is not a use. Empty for a program without collective
/// operations.
std::vector<std::vector<uint32_t>> find_pending_inputs(const program& compiled);

} // namespace troupe
