// The states that kernels keep between their runs, such as the positions of random generators, as
// text for checkpoints.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace troupe {

/// Maps names of nodes to text that only the node's kernel reads.
using kernel_positions = std::map<std::string, std::string>;

/// The positions of one task, with the incarnation that reported them.
struct task_positions {
  std::string task = {};    ///< "/job:worker/task:0"
  uint64_t incarnation = 0; ///< 0 for the task of a local session
  kernel_positions positions = {};
};

/// Limits of what a task keeps for a session, for nodes that have not run yet.
inline constexpr size_t max_positions = 65'536;
inline constexpr size_t max_positions_text = size_t{16} << 20;

/// Fails if the positions exceed a limit.
status check_positions(const kernel_positions& positions);

} // namespace troupe
