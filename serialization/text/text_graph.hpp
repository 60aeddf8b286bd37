// Reads text graphs (docs/text-graphs.md): a graph, feeds and expected results.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct text_feed {
  edge fed_edge;
  tensor value;
};

struct text_fetch {
  edge fetched_edge;
  std::optional<tensor> expected; ///< nullopt: fetched, but not compared
  double tolerance = 0;           ///< as written, or the type's default
  int line = 0;
};

/// The error statement `error kind "part"`.
struct text_error {
  error_kind kind = error_kind::ok;
  std::string part; ///< a substring of the message
  int line = 0;
};

struct text_run {
  std::vector<text_feed> feeds;
  std::vector<text_fetch> fetches;
  std::vector<node*> targets;
  std::optional<text_error> error; ///< the expected failure of the run
  int line = 0;                    ///< of its first statement
};

struct text_graph {
  std::vector<text_run> runs;
  /// The failure of building the graph, if the text expects it; then there are no runs.
  std::optional<text_error> build_error;
};

struct text_limits {
  /// The limit of all literals together: `f32{1000000,1000000}[0]` is a short text.
  size_t literal_bytes = 256u << 20;
};

/// Adds the nodes to `target` and returns the runs. Errors start with `file:line:column` and state
/// the expected syntax; an error of graph::add keeps its kind.
result<text_graph> parse_text_graph(std::string_view text, std::string_view file, graph& target,
                                    const text_limits& limits = {});

/// Succeeds if `actual` is the promised error; otherwise fails with the difference.
status check_error(const text_error& promised, const status& actual);

} // namespace troupe
