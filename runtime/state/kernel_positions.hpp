// Where kernels stand that keep something between their runs, as checkpoints have it.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace troupe {

/// By the names of nodes: text that only the node's kernel reads.
using kernel_positions = std::map<std::string, std::string>;

/// What one task says, and which incarnation of it has said so.
struct task_positions {
  std::string task = {};    ///< "/job:worker/task:0"
  uint64_t incarnation = 0; ///< 0: the task of a local session
  kernel_positions at = {};
};

/// A task keeps so many of a session, with so many bytes of text, for nodes that have not run yet.
inline constexpr size_t max_positions = 65'536;
inline constexpr size_t max_positions_text = size_t{16} << 20;

/// Fails where there are more.
status check_positions(const kernel_positions& which);

} // namespace troupe
