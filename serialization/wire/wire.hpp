// Graphs as bytes, for the wire and for files.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <cstddef>
#include <span>

namespace troupe {

/// Writes nodes with everything that their order, inputs and attributes say; returns a u8 vector.
/// The inputs and controls of a node must be among the nodes.
result<tensor> write_graph(std::span<node* const> nodes);
result<tensor> write_graph(const graph& of);

/// Adds the nodes to a graph, which checks each of them as if a user had written it. They may stand
/// in any order; those that stand after their inputs keep their order. Fails with data_loss for
/// damaged bytes, and with an error that names the node for what the graph refuses, a name that is
/// taken, and a cycle. Nodes that were added before the error stay.
status read_graph(std::span<const std::byte> bytes, graph& into);

} // namespace troupe
