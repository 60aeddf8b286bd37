// Whether a step's tensors are to be fetched from the task that announces them.
#pragma once
#include <cstdint>

namespace troupe {

enum class demand : uint8_t {
  now,   ///< the step has begun
  later, ///< it has not come yet
  never  ///< it has ended, or will not run on
};

} // namespace troupe
