// Collective operations (runtime/collective.hpp), on whatever devices the members are.
#pragma once
#include "troupe/runtime/collective.hpp"

namespace troupe {

/// Computes, or launches, and gives each participant its output. All are on devices of one kind.
/// Any thread may call, several at once for the same devices.
status exchange(const exchange_call& what, std::span<exchange_part> all, stop_signal* stop);

} // namespace troupe
