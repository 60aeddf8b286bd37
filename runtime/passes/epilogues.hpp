// The pass that joins biases, for some kinds of nodes only.
#pragma once
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/passes/passes.hpp"

namespace troupe {

/// As fuse_bias_activation() in passes.hpp, for nodes with one of these effects: is_product,
/// is_convolution.
void fuse_bias_activation(step_graph& of, device_kind on, effect which);

} // namespace troupe
