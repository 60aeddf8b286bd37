// How much named state has retired in this process: each step asks whether that is still as before.
#pragma once
#include <atomic>
#include <cstdint>

namespace troupe {

inline std::atomic<uint64_t> all_retirements{0};

} // namespace troupe
