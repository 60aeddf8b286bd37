// The pass that joins biases, for some kinds of nodes only.
#pragma once
#include "troupe/runtime/graph/epilogue.hpp"
#include "troupe/runtime/passes/passes.hpp"

namespace troupe {

/// As join_epilogues() in passes.hpp, for nodes with one of these effects: is_product,
/// is_convolution.
void join_epilogues(step_graph& of, device_kind on, effect which);

} // namespace troupe
