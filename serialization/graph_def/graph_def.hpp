// Reads and writes graphs in TensorFlow's format, GraphDef (docs/graph-def.md).
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace troupe {

struct graph_def_options {
  /// The location of the nodes in errors and descriptions.
  std::string file = "GraphDef";
  /// The limit of all constants whose elements repeat: few bytes can describe many zeros.
  size_t filled_bytes = size_t{1} << 30;
  /// The nodes to feed, fetch or run, as "node" or "node:1". Only nodes that these need are read,
  /// so that missing ops, broken loops and the like matter only there. Values within branches of
  /// TensorFlow 1 can be fetched if they are named here. Empty: all nodes.
  std::vector<std::string> wanted = {};
};

/// The nodes that were added to a graph, by their names in the file.
class TROUPE_API imported_graph {
public:
  imported_graph(graph& in, std::string scope) : in_(&in), scope_(std::move(scope)) {}

  /// Finds "name" or "name:1". Fails with not_found and proposes similar names.
  result<edge> find_edge(std::string_view name) const;
  /// Returns nullptr if there is no such node. For a call of a function, returns a node that runs
  /// after the whole call.
  node* find(std::string_view name) const noexcept;
  graph& in() const noexcept { return *in_; }

  /// Keeps the name of an inlined call valid for lookups.
  void add_call(std::string name, std::vector<edge> outputs, node* end);
  /// Sets the reason why a node of the file does not exist: "is in the body of a loop".
  void hide(std::string name, std::string reason);
  /// Notes a node that only keeps the name of a value that replaced control flow of TensorFlow 1,
  /// so that the written graph has the name. Lookups return the value itself.
  void add_stand_in(const node& named) { stand_ins_.insert(&named); }
  bool is_stand_in(const node& tested) const { return stand_ins_.contains(&tested); }

private:
  struct call {
    std::vector<edge> outputs;
    node* end;
  };
  graph* in_;
  std::string scope_; // "import/" or ""
  std::map<std::string, call, std::less<>> calls_;
  std::map<std::string, std::string, std::less<>> hidden_;
  std::set<const node*> stand_ins_;
};

/// Adds the nodes of a binary GraphDef, or of the one in a MetaGraphDef or a SavedModel, to a
/// graph, in its current scope. Nodes without a device get the current device. Devices of the file
/// are preferred, not required (docs/placement.md). The nodes may be in any order.
///
/// Types and attributes are converted: references follow from the op, quantized numbers become
/// plain ones; attributes that only choose TensorFlow's way of computing are dropped. Calls of the
/// functions in the library are replaced by their nodes, named `call/node`, unless the function has
/// a gradient of its own or is marked `_noinline`. Control flow of TensorFlow 1 is converted; nodes
/// that only pass values on keep the names of Merge and Exit. Placeholders of handles are left out,
/// with all nodes that need them: looking up such a name is an error with the reason.
///
/// Fails with data_loss for damaged bytes; with invalid_argument for a file of another known kind,
/// with advice; with not_found for a wanted name that is not in the file; with unimplemented and a
/// list of all ops that Troupe does not have; and with an error that names the node for all other
/// problems. Nodes that were added before the error stay.
TROUPE_API result<imported_graph> read_graph_def(std::span<const std::byte> bytes, graph& target,
                                                 const graph_def_options& options = {});

/// The same from the text format (.pbtxt). Errors of its syntax, and unknown fields, start with
/// `file:line:column`.
TROUPE_API result<imported_graph> read_graph_def_text(std::string_view text, graph& target,
                                                      const graph_def_options& options = {});

enum class graph_def_format : uint8_t { binary, text };

/// Writes all nodes as a GraphDef. Numbers in attributes are rounded to floats. Fails for graphs of
/// more than 2 GiB, the limit of the format.
TROUPE_API result<std::string> write_graph_def(const graph& source,
                                               graph_def_format format = graph_def_format::binary);

} // namespace troupe
