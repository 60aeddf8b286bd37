// Identifiers of processes and sessions.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

namespace troupe {

/// Returns 64 bits from the system's source of randomness; never 0.
uint64_t random_id();

/// Returns a number that identifies a process among the successive processes of one task. A later
/// process has a greater number, as far as their machines' clocks agree. Never 0.
uint64_t new_incarnation(std::chrono::system_clock::time_point now);

/// Sets the source of random_id() for simulations, which need the same ids in each run of a seed.
/// No other thread may call random_id() at the same time.
void set_random_id_source(std::function<uint64_t()> source);

} // namespace troupe
