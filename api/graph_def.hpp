// Import of graphs from TensorFlow, and export to it (docs/graph-def.md).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"

namespace troupe {

/// The nodes that an import has added, by their names in the file.
class TROUPE_API graph_import {
public:
  explicit graph_import(imported_graph nodes) : nodes_(std::move(nodes)) {}

  /// Returns the edge called "name" or "name:1". Throws, suggesting names that exist.
  edge operator[](std::string_view name) const;
  /// Returns a node to run for its effect, such as an initializer or a training step. Throws,
  /// suggesting names that exist.
  node* target(std::string_view name) const;
  /// Returns true for a node that only keeps the name of a value from a branch or a loop of
  /// TensorFlow 1, so that the graph has the name when it is written.
  bool is_stand_in(const node& candidate) const { return nodes_.is_stand_in(candidate); }

private:
  imported_graph nodes_;
};

/// Adds the graph of a file: a GraphDef, the MetaGraphDef beside a checkpoint (.meta), or the graph
/// of a SavedModel (load_saved_model() restores its variables, too). A file called .pbtxt is read
/// as text, others as bytes. The builder's scopes apply to names and devices. Throws for a graph
/// that Troupe cannot run, listing all unsupported ops. If `options.wanted` names nodes, only the
/// nodes that they need are read, and only those must be supported: `import_graph_def(g,
/// "train.pb", {.wanted = {"x", "probabilities"}})`. `options.file` is the name of the file.
TROUPE_API graph_import import_graph_def(graph_builder& to, const std::string& path,
                                         graph_def_options options = {});
/// Adds a graph from memory.
TROUPE_API graph_import import_graph_def(graph_builder& to, std::span<const std::byte> bytes,
                                         const graph_def_options& options = {});

/// Writes a graph to a file, as text if it is called .pbtxt, else as bytes.
TROUPE_API void export_graph_def(const graph& from, const std::string& path);

} // namespace troupe
