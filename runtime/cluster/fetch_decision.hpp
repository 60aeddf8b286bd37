// Whether a task fetches a step's tensors from the task that announces them.
#pragma once
#include <cstdint>

namespace troupe {

enum class fetch_decision : uint8_t {
  now,   ///< the step has begun
  later, ///< the step has not arrived yet
  never  ///< the step has ended, or will be stopped
};

} // namespace troupe
