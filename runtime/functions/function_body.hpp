// Graphs on their way to be functions, and functions that become graphs again to be changed.
#pragma once
#include "troupe/runtime/graph/function.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// A graph on its way to be a function. From its construction to its end, what is added to the
/// graph around it becomes a part of it, and the edges of graphs around it that it takes become
/// arguments (captures), small constants excepted.
class function_body : public graph {
public:
  /// Constants of up to so many bytes are copied, strings excepted; SIZE_MAX: all constants are.
  static constexpr size_t small_constant = 1024;
  explicit function_body(graph& around, size_t copied_constant = small_constant);
  ~function_body() override;

  /// Adds the next argument, a value.
  edge add_argument(dtype type, const partial_shape& dims);
  /// The same for a variable, or for other state, which has neither type nor shape.
  result<edge> add_state_argument(resource kind, dtype type, const partial_shape& dims);
  /// Adds the next argument for what the edge of the graph around carries, and captures it.
  result<edge> capture(edge from);
  /// The captured edges, in the order of their arguments, which follow those added before.
  const std::vector<edge>& captured() const noexcept { return captured_; }
  edge argument(size_t i);
  /// Nodes around that the function must come after.
  const std::vector<node*>& after() const noexcept { return after_; }

  /// The end: what is added to the graph around it from here is its own again.
  void leave() noexcept;
  /// Makes the function of the graph. `body` is this one.
  static result<std::shared_ptr<const function>> finish(std::unique_ptr<function_body> body,
                                                        std::string name,
                                                        const std::vector<edge>& results,
                                                        own_gradient gradient = {});

protected:
  result<edge> bring_in(edge from) override;

private:
  bool reaches(const node& what) const noexcept override;
  status come_after(node& before) override;

  graph* around_;
  const size_t copied_constant_;
  int64_t arguments_ = 0;
  std::vector<edge> captured_;
  std::map<std::pair<const node*, int>, edge> known_; // by what was captured
  std::vector<node*> after_;
};

/// A function's graph as it was before: to be changed, and made a function again. Of the results
/// those that were handed on are arguments.
struct open_function {
  std::unique_ptr<graph> body;
  std::vector<edge> arguments, results;
  std::vector<node*> copies = {}; ///< by index of the node before; none of a _Fetch
};
open_function opened(const function& of);
/// Adds an argument to a graph that is to be a function's: a value like what the edge carries.
result<edge> add_value_argument(graph& to, size_t index, edge like);

} // namespace troupe
