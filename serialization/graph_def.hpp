// Graphs in TensorFlow's format, GraphDef (docs/graph-def.md).
#pragma once
#include "troupe/runtime/graph.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace troupe {

struct graph_def_options {
  /// Stands in errors and descriptions for where a node was built.
  std::string file = "GraphDef";
  /// Of all constants that the file writes shorter than they are: few bytes can name many zeros.
  size_t filled_bytes = size_t{1} << 30;
};

/// What was added to a graph: its nodes go by the names that the file gives them.
class imported_graph {
public:
  imported_graph(graph& in, std::string scope) : in_(&in), scope_(std::move(scope)) {}

  /// Reads "name" or "name:1". Fails with not_found and proposes names that exist.
  result<edge> find_edge(std::string_view name) const {
    return in_->find_edge(concat(scope_, name));
  }
  node* find(std::string_view name) const noexcept { return in_->find(scope_ + std::string{name}); }
  graph& in() const noexcept { return *in_; }

private:
  graph* in_;
  std::string scope_; // "import/" or ""
};

/// Adds the nodes of a binary GraphDef to a graph, in its current scope and on its current device
/// where they name none. They may stand in any order. Types and attributes become ours: references
/// are known by the op, quantized numbers are plain ones; attributes that only tell TensorFlow how
/// to compute are dropped.
///
/// Fails with data_loss for damaged bytes; with unimplemented and a list of all ops that Troupe
/// does not have; and with an error that names the node for everything else. Nodes that were added
/// before the error stay.
result<imported_graph> read_graph_def(std::span<const std::byte> bytes, graph& into,
                                      const graph_def_options& options = {});

} // namespace troupe
