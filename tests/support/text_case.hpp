// A parsed text graph, ready to run in a session.
#pragma once
#include "troupe/actors/session/client.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe::test {

struct text_case {
  /// Parses; throws the text of an error. Without `ops`, with the library's ops.
  explicit text_case(std::string_view text, std::string_view file = "test",
                     const registry* ops = nullptr);

  std::unique_ptr<graph> nodes;
  text_graph text;
};

step_signature signature_of(const text_run& run);
std::vector<tensor> feeds_of(const text_run& run);

/// Returns the difference of an outcome from the run's expectation; empty if there is none.
std::string difference_of(const text_run& run, const result<std::vector<tensor>>& outcome);

/// A timeout for fast operations: 20 s times TROUPE_PATIENCE.
std::chrono::milliseconds patience();

/// Prepares and runs the first run (or another) in a session.
result<std::vector<tensor>> run(client& tested_client, const text_case& test_case,
                                size_t run_index = 0,
                                std::chrono::milliseconds timeout = patience());
/// Runs all runs in order, and returns the first difference.
std::string run_all(client& tested_client, const text_case& test_case);

/// Copies a graph onto tasks: nodes that neither have nor use refs go round-robin over `devices`.
/// Returns the runs with the copied edges.
text_graph spread(const text_graph& text, const graph& from, graph& target,
                  const std::vector<std::string>& devices, size_t first);

/// Copies a graph onto devices that the function returns; it is called for every node without a
/// device.
text_graph place_each(const text_graph& text, const graph& from, graph& target,
                      const std::function<std::string(const node&)>& device_of);

} // namespace troupe::test
