// Reads text graphs (docs/text-graphs.md): a graph, what to feed it and what must come out.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct text_feed {
  edge to;
  tensor value;
};

struct text_fetch {
  edge from;
  std::optional<tensor> expected; ///< nothing: fetched, but not compared
  double tolerance = 0;           ///< as written, or the type's default
  int line = 0;
};

/// What `error kind "part"` promises.
struct text_error {
  error_kind kind = error_kind::ok;
  std::string part; ///< stands somewhere in the message
  int line = 0;
};

struct text_run {
  std::vector<text_feed> feeds;
  std::vector<text_fetch> fetches;
  std::vector<node*> targets;
  std::optional<text_error> error; ///< the run must fail like that
  int line = 0;                    ///< of its first statement
};

struct text_graph {
  std::vector<text_run> runs;
  /// Building the graph failed, as the text said it must; then there are no runs.
  std::optional<text_error> build_error;
};

struct text_limits {
  /// Of all literals together: `f32{1000000,1000000}[0]` is short.
  size_t literal_bytes = 256u << 20;
};

/// Adds the nodes to `into` and returns the runs. Errors start with `file:line:column` and say what
/// was expected; an error of graph::add keeps its kind.
result<text_graph> parse_text_graph(std::string_view text, std::string_view file, graph& into,
                                    const text_limits& limits = {});

/// Says whether an actual error is the promised one; otherwise why not.
status check_error(const text_error& promised, const status& actual);

} // namespace troupe
