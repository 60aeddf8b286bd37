// Branches and loops that were raised from TensorFlow 1's, on their way into a graph.
#pragma once
#include "troupe/serialization/graph_def/add_nodes.hpp"
#include "troupe/serialization/graph_def/raise_control_flow.hpp"

namespace troupe::graph_def {

/// Makes a node that runs functions of one whose inputs are those of its NodeDef: reads its parts,
/// which take what they use of the graph around by themselves. `names` knows the nodes around.
status add_functions(node_spec& spec, const raised_node& from, graph& into,
                     const function_source& with, const outer_names& names);

} // namespace troupe::graph_def
