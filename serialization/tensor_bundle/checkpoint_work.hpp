// What Save and Restore ops do (ops/io/): checkpoints in TensorFlow's formats, in files of
// the task that the node is on.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/types/status.hpp"

namespace troupe {

/// Gives a registry the long work of these ops, which it must have.
status add_checkpoint_work(registry& to);

} // namespace troupe
