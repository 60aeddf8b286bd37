// What a task that waits to be filled says to a step that uses its state.
#pragma once
#include <cstdint>
#include <string>

namespace troupe {

/// Numbered as on the wire.
enum class fill_stage : uint8_t {
  over = 0,       ///< it serves all, or the step uses nothing of it
  awaited = 1,    ///< it has refused the step: no session fills it
  by_another = 2, ///< it has refused the step: another session fills it
  by_asker = 3,   ///< the step is part of what fills it
};

/// Which task says so.
struct task_fill {
  std::string task;
  fill_stage stage = fill_stage::over;
};

} // namespace troupe
