// Reports that the state of a session on a task is lost and must be restored.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace troupe {

struct state_loss {
  std::string task;
  uint64_t number = 0; ///< counts the session's losses, from 1
};

/// As an acknowledged loss: the caller, which restores the state, knows all losses.
inline constexpr uint64_t all_losses = std::numeric_limits<uint64_t>::max();

} // namespace troupe
