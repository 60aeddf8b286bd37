// Graphs that are being built as functions, and copies of functions' graphs that can be changed.
#pragma once
#include "troupe/runtime/graph/function.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// The graph of a function while it is built. From its construction to leave(), nodes that are
/// added to the graph around it become nodes of the function. Edges of graphs around it become
/// arguments (captures), except small constants.
class function_body : public graph {
public:
  /// Constants of at most this many bytes are copied, except strings; SIZE_MAX: all constants are.
  static constexpr size_t small_constant = 1024;
  explicit function_body(graph& around, size_t copied_constant = small_constant);
  ~function_body() override;

  /// Adds the next argument, a value.
  edge add_argument(dtype type, const partial_shape& dims);
  /// Adds the next argument, a variable or other state; other state has no type and shape.
  result<edge> add_state_argument(resource kind, dtype type, const partial_shape& dims);
  /// Captures an edge of the graph around the function: adds the next argument for it.
  result<edge> capture(edge source);
  /// Returns the captured edges in the order of their arguments, which follow the arguments that
  /// were added before.
  const std::vector<edge>& captured() const noexcept { return captured_; }
  edge argument(size_t i);
  /// Returns the nodes around the function that must run before it.
  const std::vector<node*>& predecessors() const noexcept { return predecessors_; }

  /// Ends building: nodes that are added to the graph around the function stay in that graph.
  void leave() noexcept;
  /// Creates the function from the graph `body`.
  static result<std::shared_ptr<const function>> finish(std::unique_ptr<function_body> body,
                                                        std::string name,
                                                        const std::vector<edge>& results,
                                                        custom_gradient gradient = {});

protected:
  result<edge> import_edge(edge source) override;

private:
  bool is_in_scope(const node& target) const noexcept override;
  status run_after(node& before) override;

  graph* around_;
  const size_t copied_constant_;
  int64_t arguments_ = 0;
  std::vector<edge> captured_;
  std::map<std::pair<const node*, int>, edge> known_; // arguments and copies, by captured edge
  std::vector<node*> predecessors_;
};

/// A copy of a function's graph, for changes before it becomes a function again. A result that is
/// passed through is the edge of an argument.
struct function_copy {
  std::unique_ptr<graph> body;
  std::vector<edge> arguments, results;
  std::vector<node*> copies = {}; ///< by index of the original node; nullptr for a _Fetch
};
function_copy copy_body(const function& source);
/// Adds an argument to a graph that becomes a function: a value with the type and shape of
/// `source`.
result<edge> add_value_argument(graph& target, size_t index, edge source);

} // namespace troupe
