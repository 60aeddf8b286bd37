// Functions: named graphs that nodes run, as calls, branches and loops do (white paper, 4.4). Each
// graph stays acyclic: a loop is a single node, and its body is a function.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class function;

/// A custom gradient of a function. `backward` takes the function's arguments, then the gradients
/// of the results that carry gradients, and returns the gradients of the arguments with the indices
/// in `arguments`. If `arguments` is set without `backward`, the gradient was not loaded (its order
/// was too high, or it is the gradient of a variable), and differentiation fails.
struct custom_gradient {
  std::shared_ptr<const function> backward = {};
  std::vector<size_t> arguments = {};
};

/// A graph with arguments and results. Immutable; nodes hold it as an attribute.
class TROUPE_API function {
public:
  /// Takes a graph whose arguments are nodes of function_body, and the edges that are its results.
  /// A result that is an argument is passed through without a node.
  static result<std::shared_ptr<const function>> make(std::string name, std::unique_ptr<graph> body,
                                                      const std::vector<edge>& results,
                                                      custom_gradient gradient = {});
  /// Takes a graph in which _Fetch nodes mark the results that are not passed through.
  static result<std::shared_ptr<const function>> make(std::string name, std::unique_ptr<graph> body,
                                                      std::vector<int> passed_through,
                                                      custom_gradient gradient = {});

  const std::string& name() const noexcept { return name_; }
  const graph& body() const noexcept { return *body_; }

  // Functions with an index throw troupe::error if there is no such argument or result.

  size_t arguments() const noexcept { return arguments_.size(); }
  const node& argument(size_t i) const {
    return *arguments_[checked_place(i, "argument", arguments_.size())];
  }
  /// Returns whether the argument is a variable or table itself instead of a value.
  bool argument_is_ref(size_t i) const { return argument(i).output_is_ref(0); }

  size_t results() const noexcept { return passed_through_.size(); }
  dtype result_type(size_t i) const;
  const partial_shape& result_dims(size_t i) const;
  bool result_is_ref(size_t i) const;
  /// Returns the argument that the result passes through, or -1 if the result is computed.
  int passed_through(size_t i) const {
    return passed_through_[checked_place(i, "result", passed_through_.size())];
  }
  /// Returns, for each result, the argument that it passes through, or -1.
  const std::vector<int>& passed_through() const noexcept { return passed_through_; }

  /// Returns whether a node has effects: two calls may differ, and a call must run even if its
  /// results are not used.
  bool has_effects() const noexcept { return has_effects_; }

  const custom_gradient& gradient() const noexcept { return gradient_; }

  /// Returns whether a call runs the node, because a result or an effect needs it. Arguments count
  /// as run.
  bool runs(const node& body_node) const {
    return body_node.index() < runs_.size() && runs_[body_node.index()]; // false for later nodes
  }

private:
  function() = default;
  status collect_arguments();
  status collect_results();
  void collect_run_nodes();
  size_t checked_place(size_t i, std::string_view kind, size_t count) const {
    return detail::checked_index(name_, kind, static_cast<int64_t>(i), count);
  }

  std::string name_;
  std::unique_ptr<graph> body_;
  std::vector<const node*> arguments_;
  std::vector<const node*> computed_; // for each result: its _Fetch, or nullptr
  std::vector<int> passed_through_;
  std::vector<bool> runs_; // indexed by node
  custom_gradient gradient_;
  bool has_effects_ = false;
};

/// Returns whether nodes of the op own state that outlives steps. A function cannot contain them.
constexpr bool outlives_steps(const op_def& op) noexcept {
  return op.state_kind != resource::none && !op.start_operation;
}

/// Returns whether the node is an argument of a function.
TROUPE_API bool is_argument(const node& candidate) noexcept;
/// Returns whether a node in a function has effects besides computing results.
TROUPE_API bool has_effects_in_function(const node& candidate);

/// Returns whether `body` calls a function of this name without containing it: a recursive call.
TROUPE_API bool calls_itself(const graph& body, std::string_view name);

/// Returns the most specific shape that covers both, for a result that has either shape.
partial_shape join_shapes(const partial_shape& a, const partial_shape& b);

// -- nodes that run functions ---------------------------------------------------------------------

/// Returns whether nodes of the op run functions.
inline bool runs_functions(const op_def& op) noexcept { return op.calls != call_kind::never; }

/// Returns the functions that a node runs, in the order of its attributes.
std::vector<const function_value*> functions_of(const node& caller);
std::vector<const function_value*> functions_of(const op_def& op, const attr_map& attrs);

/// Returns the index of the input that is the functions' first argument.
int first_argument(const op_def& op) noexcept;

/// Checks that a function accepts these inputs, from index `first` on, and returns `results`.
status check_call(const function& called, const std::vector<edge>& inputs, size_t first,
                  const std::vector<dtype>& results);

/// Returns the argument that all functions of the node pass through as this output, or -1.
int passed_through(const op_def& op, const attr_map& attrs, size_t output);

/// The port of a variable or table that a function takes as itself.
extern const port ref_argument;
bool call_input_is_ref(const op_def& op, const attr_map& attrs, size_t argument, edge source);
bool call_output_is_ref(const op_def& op, const attr_map& attrs, size_t output);

} // namespace troupe
