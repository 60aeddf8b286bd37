// Collective operations on the devices of their members.
#pragma once
#include "troupe/runtime/device/collective_call.hpp"

#include <span>

namespace troupe {

/// Called for each member that arrives before the last one calls run_collective(). On a GPU,
/// records when the member's input is ready. Thread-safe.
status prepare_collective(const collective_call& call, collective_part& part);

/// Computes, or launches, and sets the output of each participant. All are on devices of one kind.
/// Thread-safe, also for concurrent calls with the same devices.
status run_collective(const collective_call& call, std::span<collective_part> parts,
                      stop_signal* stop);

} // namespace troupe
