// Collective operations, on whatever devices the members are.
#pragma once
#include "troupe/runtime/device/collective_call.hpp"

#include <span>

namespace troupe {

/// For a member that has come, before the last one calls exchange(): notes since when its input is
/// there, where that matters. Any thread may call.
status prepare_collective(const collective_call& what, collective_part& mine);

/// Computes, or launches, and gives each participant its output. All are on devices of one kind.
/// Any thread may call, several at once for the same devices.
status exchange(const collective_call& what, std::span<collective_part> all, stop_signal* stop);

} // namespace troupe
