// The answer of a task that waits to be filled to a step that uses its state.
#pragma once
#include <cstdint>
#include <string>

namespace troupe {

/// The values are those on the wire.
enum class fill_stage : uint8_t {
  over = 0,       ///< the task serves its state, or the step uses none of it
  awaited = 1,    ///< the step was refused: no session fills the task
  by_another = 2, ///< the step was refused: another session fills the task
  by_asker = 3,   ///< the step is part of filling the task
};

/// The answer of one task.
struct task_fill {
  std::string task;
  fill_stage stage = fill_stage::over;
};

} // namespace troupe
