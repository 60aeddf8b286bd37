// Converts frames of TensorFlow 1 to loops.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

/// Makes a loop of each frame, innermost first, and a part of the items outside of all frames,
/// which it returns. Nodes of frames that no node after the loop needs are left out. Fails with the
/// names for frames that TensorFlow could not run, either.
result<int> raise_loops(flow_graph& graph);

} // namespace troupe::graph_def
