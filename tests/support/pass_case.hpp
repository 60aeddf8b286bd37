// A text graph whose first run is closed, for tests of passes.
#pragma once
#include "tests/support/text_case.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/passes/passes.hpp"

namespace troupe::test {

struct pass_case {
  explicit pass_case(std::string_view source);

  /// The nodes that the step runs: `sum=Add(x,two,^init) ->sum`, feeds and literals by their
  /// values' names, and each fetch as an arrow.
  std::string written() const;
  node& operator[](std::string_view name) const; ///< must exist

  text_case text;
  step_graph closed;
};

std::string written(const graph& printed_graph);

/// Runs a step without waits and state on one device, and returns its fetches.
result<std::vector<tensor>> run_closed(step_graph closed_graph, const std::vector<tensor>& feeds);

/// A device of the library, as constant folding uses it.
device& host();

} // namespace troupe::test
