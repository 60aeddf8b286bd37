// Which regions use what exchanges bring, which may still be on its way when they begin.
#pragma once
#include "troupe/runtime/program/program.hpp"

namespace troupe {

/// The slots of each region that hold what a collective operation brings, and that one of its
/// instructions uses: handing a tensor on to another region is no use. None where there are no such
/// operations.
std::vector<std::vector<uint32_t>> find_pending_inputs(const program& of);

} // namespace troupe
