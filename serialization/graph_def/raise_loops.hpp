// Frames of TensorFlow 1 become loops.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

/// Makes a loop of each frame, the innermost first, and a part of what is in none, which it
/// returns. Nodes of frames that nothing after the loop needs are left out. Fails with the names
/// for frames that TensorFlow could not run, either.
result<int> raise_loops(flow_graph& in);

} // namespace troupe::graph_def
