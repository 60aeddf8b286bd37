// The pass that fuses biases and activations, restricted to some kinds of nodes.
#pragma once
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/passes/passes.hpp"

namespace troupe {

/// Like fuse_bias_activation() in passes.hpp, for nodes with one of the effects `fused`:
/// is_product, is_convolution.
void fuse_bias_activation(step_graph& step, device_kind kind, effect fused);

} // namespace troupe
