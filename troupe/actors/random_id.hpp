// Numbers that tell processes and sessions apart.
#pragma once
#include <cstdint>

namespace troupe {

/// Returns 64 bits from the system's source of randomness; never 0.
uint64_t random_id();

} // namespace troupe
