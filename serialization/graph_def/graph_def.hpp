// Graphs in TensorFlow's format, GraphDef (docs/graph-def.md).
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
  /// Stands in errors and descriptions for where a node was built.
  std::string file = "GraphDef";
  /// Of all constants that the file writes shorter than they are: few bytes can name many zeros.
  size_t filled_bytes = size_t{1} << 30;
  /// The nodes that are going to be fed, fetched or run, as "node" or "node:1": only what they need
  /// is read, so that ops which Troupe does not have, broken loops and the like matter only there.
  /// Values within branches of TensorFlow 1 can be read if they are named here. Empty: all nodes.
  std::vector<std::string> wanted = {};
};

/// What was added to a graph: its nodes go by the names that the file gives them.
class TROUPE_API imported_graph {
public:
  imported_graph(graph& in, std::string scope) : in_(&in), scope_(std::move(scope)) {}

  /// Reads "name" or "name:1". Fails with not_found and proposes names that exist.
  result<edge> find_edge(std::string_view name) const;
  /// Returns nullptr where there is no such node. For a call of a function it is a node that runs
  /// after all of it.
  node* find(std::string_view name) const noexcept;
  graph& in() const noexcept { return *in_; }

  /// Calls are replaced by what the functions consist of; their names stay good for look-ups.
  void add_call(std::string name, std::vector<edge> outputs, node* end);
  /// Says why there is no such node, though the file has one: "is in the body of a loop".
  void hide(std::string name, std::string why);
  /// Notes a node that only keeps the name of a value which control flow of TensorFlow 1 has
  /// become, so that the graph has it when it is written. Look-ups give the value itself.
  void add_stand_in(const node& what) { stand_ins_.insert(&what); }
  bool is_stand_in(const node& what) const { return stand_ins_.contains(&what); }

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
/// graph, in its current scope and on its current device where they name none. Devices that they
/// name are preferred, not required (docs/placement.md). They may stand in any order. Types and
/// attributes become ours: references are known by the op, quantized numbers are plain ones;
/// attributes that only tell TensorFlow how to compute are dropped. Calls of the functions in its
/// library are replaced by their nodes, named `call/node`, unless the function has a gradient of
/// its own or says `_noinline`. What becomes of TensorFlow 1's control flow keeps the names of
/// Merge and Exit: nodes that only pass their values on have them. Placeholders of handles are left
/// out, with all that needs them: looking up such a name is an error that says so.
///
/// Fails with data_loss for damaged bytes; with invalid_argument for a file of another known kind,
/// and says what to give instead; with not_found for a wanted name that is not in the file; with
/// unimplemented and a list of all ops that Troupe does not have; and with an error that names the
/// node for everything else. Nodes that were added before the error stay.
TROUPE_API result<imported_graph> read_graph_def(std::span<const std::byte> bytes, graph& into,
                                                 const graph_def_options& options = {});

/// The same from the text form (.pbtxt). Errors of its syntax, and fields that are none of
/// TensorFlow's, start with `file:line:column`.
TROUPE_API result<imported_graph> read_graph_def_text(std::string_view text, graph& into,
                                                      const graph_def_options& options = {});

enum class graph_def_format : uint8_t { binary, text };

/// Writes all nodes as a GraphDef. Numbers in attributes lose what a float does not hold. Fails for
/// graphs of more than 2 GiB, the most that the format can have.
TROUPE_API result<std::string> write_graph_def(const graph& of,
                                               graph_def_format format = graph_def_format::binary);

} // namespace troupe
