// The stage of a task's initialization, as the task reports it to a step that uses its state.
#pragma once
#include <cstdint>
#include <string>

namespace troupe {

/// The values are those on the wire.
enum class initialization_stage : uint8_t {
  over = 0,         ///< the task serves its state, or the step uses none of it
  awaited = 1,      ///< the step was refused: no session initializes the task
  by_another = 2,   ///< the step was refused: another session initializes the task
  by_requester = 3, ///< the step is part of initializing the task
};

/// The answer of one task.
struct initialization_report {
  std::string task;
  initialization_stage stage = initialization_stage::over;
};

} // namespace troupe
