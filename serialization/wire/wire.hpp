// The encoding of graphs as bytes, for the wire and for files.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <cstddef>
#include <span>

namespace troupe {

/// Writes nodes with their order, inputs and attributes; returns a u8 vector. The inputs and
/// controls of a node must be among the nodes.
result<tensor> write_graph(std::span<node* const> nodes);
result<tensor> write_graph(const graph& source);

/// Adds the nodes to a graph, which checks each of them like nodes that a user adds. The nodes may
/// be in any order; nodes that come after their inputs keep their order. Fails with data_loss for
/// damaged bytes. Fails with an error that names the node if the graph refuses it, if its name is
/// taken, and for a cycle. Nodes that were added before the error stay.
status read_graph(std::span<const std::byte> bytes, graph& target);

} // namespace troupe
