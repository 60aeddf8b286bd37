// Adds converted branches and loops of TensorFlow 1 to a graph.
#pragma once
#include "troupe/serialization/graph_def/add_nodes.hpp"
#include "troupe/serialization/graph_def/raise_control_flow.hpp"

namespace troupe::graph_def {

/// Completes a node that runs functions. `spec` has the inputs of its NodeDef. Reads its parts,
/// which capture edges of the graph outside. `names` resolves the nodes outside.
status add_functions(node_spec& spec, const raised_node& from, graph& target,
                     const function_source& source, const outer_names& names);

} // namespace troupe::graph_def
