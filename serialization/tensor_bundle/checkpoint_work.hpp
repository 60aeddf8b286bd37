// The work of Save and Restore ops (ops/io/): checkpoints in TensorFlow's formats, in files of the
// task that the node is on.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/types/status.hpp"

namespace troupe {

/// Adds the long work of these ops to a registry that has the ops.
status add_checkpoint_work(registry& target);

} // namespace troupe
