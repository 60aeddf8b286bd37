// Numbers that tell processes and sessions apart.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

namespace troupe {

/// Returns 64 bits from the system's source of randomness; never 0.
uint64_t random_id();

/// Names a process among those of one task: of two, the one that has begun later has the greater
/// number, as far as their machines' clocks agree. Never 0.
uint64_t new_incarnation(std::chrono::system_clock::time_point now);

/// For simulations, whose ids must be the same in each run of a seed. Not while another thread may
/// draw one.
void draw_random_ids_from(std::function<uint64_t()> source);

} // namespace troupe
