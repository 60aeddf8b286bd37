// The number of retirements of named state in this process. Each step compares it with its last
// value.
#pragma once
#include <atomic>
#include <cstdint>

namespace troupe {

inline std::atomic<uint64_t> retirement_counter{0};

} // namespace troupe
