// What a session had on a task is gone, and is to be restored.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace troupe {

struct state_loss {
  std::string task;
  uint64_t number = 0; ///< of the session's losses, from 1
};

/// Whoever restores what was lost knows of all.
inline constexpr uint64_t all_losses = std::numeric_limits<uint64_t>::max();

} // namespace troupe
