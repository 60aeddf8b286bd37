// The composition root: puts the ops and devices of this build together.
#pragma once
#include "troupe/runtime/device.hpp"
#include "troupe/runtime/registry.hpp"

#include <memory>
#include <vector>

namespace troupe {

/// Every op and kernel of this build; made at the first call, never changed, usable by any thread.
const registry& library();

/// Makes the devices of a task: one for the processor, whose tensors may take so many bytes (0: no
/// limit).
std::vector<std::shared_ptr<device>> make_devices(int intra_op_threads, size_t memory_limit = 0);

} // namespace troupe
