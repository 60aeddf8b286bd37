// Graphs that come from TensorFlow, or go there (docs/graph-def.md).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"

namespace troupe {

/// The nodes that an import has added, by the names that they have in the file.
class TROUPE_API graph_import {
public:
  explicit graph_import(imported_graph found) : found_(std::move(found)) {}

  /// Reads "name" or "name:1". Throws, proposing names that exist.
  edge operator[](std::string_view name) const;
  /// What to run for its effect, such as an initializer or a step of training. Throws likewise.
  node* target(std::string_view name) const;
  /// Whether the node only keeps the name of a value that branches or loops of TensorFlow 1 have
  /// become, so that the graph has it when it is written.
  bool is_stand_in(const node& what) const { return found_.is_stand_in(what); }

private:
  imported_graph found_;
};

/// Adds the graph of a file: a GraphDef, the MetaGraphDef beside a checkpoint (.meta), or that of a
/// SavedModel (load_saved_model() restores its variables, too). It is text if it is called .pbtxt,
/// else bytes. Names and devices get what the builder's scopes say. Throws for a graph that Troupe
/// cannot run, with all the ops it lacks. Where `options.wanted` names nodes, only what they need
/// is read, and must be such that Troupe can run it:
/// `import_graph_def(g, "train.pb", {.wanted = {"x", "probabilities"}})`. `options.file` is the
/// name of the file.
TROUPE_API graph_import import_graph_def(graph_builder& to, const std::string& path,
                                         graph_def_options options = {});
/// The same from memory.
TROUPE_API graph_import import_graph_def(graph_builder& to, std::span<const std::byte> bytes,
                                         const graph_def_options& options = {});

/// Writes a graph to a file: as text if it is called .pbtxt, else as bytes.
TROUPE_API void export_graph_def(const graph& from, const std::string& path);

} // namespace troupe
