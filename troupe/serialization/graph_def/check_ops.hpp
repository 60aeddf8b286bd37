// Whether we have all the ops of a GraphDef.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/serialization/graph_def/values.hpp"

namespace troupe::graph_def {

/// Fails with a list of all ops that are missing, in the nodes and in the functions that they call:
/// all at once, so that nobody has to ask again and again.
status check_ops(const GraphDef& in, const registry& ops);

} // namespace troupe::graph_def
