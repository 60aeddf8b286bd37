// Functions: named parts of graphs that nodes run, as calls, branches and loops do (white paper,
// 4.4). Every level of a graph stays without cycles: a loop is a node, and what it repeats is a
// function.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class function;

/// What the gradients of a call are, where they are not to be those of the function's nodes: `by`
/// takes its arguments, then the gradients of those results that carry some, and gives the
/// gradients of the arguments `to`. With `to` and no `by`, it is of an order that was not read.
struct own_gradient {
  std::shared_ptr<const function> by = {};
  std::vector<size_t> to = {};
};

/// A graph with arguments and results. Immutable; nodes hold it as an attribute.
class TROUPE_API function {
public:
  /// Takes a graph whose arguments are nodes of function_body, and the edges that are its results.
  /// One that is an argument itself is handed on as it is.
  static result<std::shared_ptr<const function>> make(std::string name, std::unique_ptr<graph> body,
                                                      const std::vector<edge>& results,
                                                      own_gradient gradient = {});
  /// The same where nodes _Fetch stand for the results that are not handed on.
  static result<std::shared_ptr<const function>> make(std::string name, std::unique_ptr<graph> body,
                                                      std::vector<int> handed_on,
                                                      own_gradient gradient = {});

  const std::string& name() const noexcept { return name_; }
  const graph& body() const noexcept { return *body_; }

  // The functions that take a number throw troupe::error where there is no such argument or result.

  size_t arguments() const noexcept { return arguments_.size(); }
  const node& argument(size_t i) const {
    return *arguments_[place(i, "argument", arguments_.size())];
  }
  /// Takes a variable or table itself instead of a value.
  bool argument_is_ref(size_t i) const { return argument(i).output_is_ref(0); }

  size_t results() const noexcept { return handed_on_.size(); }
  dtype result_type(size_t i) const;
  const partial_shape& result_dims(size_t i) const;
  bool result_is_ref(size_t i) const;
  /// The argument that the result is, or -1 where it is computed.
  int handed_on(size_t i) const { return handed_on_[place(i, "result", handed_on_.size())]; }
  /// For each result the argument that it is, or -1.
  const std::vector<int>& handed_on() const noexcept { return handed_on_; }

  /// Whether a node of it does more than compute: two calls may differ, and a call counts although
  /// nobody reads what it gives.
  bool has_effects() const noexcept { return has_effects_; }

  const own_gradient& gradient() const noexcept { return gradient_; }

  /// Whether a call runs the node: a result or an effect needs it. Arguments count as such.
  bool runs(const node& of_body) const {
    return of_body.index() < runs_.size() && runs_[of_body.index()]; // or it came later
  }

private:
  function() = default;
  status note_arguments();
  status note_results();
  void note_what_runs();
  size_t place(size_t i, std::string_view kind, size_t count) const {
    return detail::checked_index(name_, kind, static_cast<int64_t>(i), count);
  }

  std::string name_;
  std::unique_ptr<graph> body_;
  std::vector<const node*> arguments_;
  std::vector<const node*> computed_; // by result: its _Fetch, or nullptr
  std::vector<int> handed_on_;
  std::vector<bool> runs_; // by node index
  own_gradient gradient_;
  bool has_effects_ = false;
};

/// Whether nodes of the op stand for state that others use: it cannot be made within a function.
constexpr bool outlives_steps(const op_def& op) noexcept {
  return op.makes != resource::none && !op.ask;
}

/// Whether a node stands for what a function is called with.
TROUPE_API bool is_argument(const node& one) noexcept;
/// Whether a node in a function does more than to compute its results.
TROUPE_API bool acts_in_a_body(const node& one);

/// Whether a function of this name is run in `body` without being there: within itself.
TROUPE_API bool calls_itself(const graph& body, std::string_view name);

/// A result of another graph's function that is known to be both.
partial_shape widened(const partial_shape& a, const partial_shape& b);

// -- nodes that run functions ---------------------------------------------------------------------

/// Whether nodes of the op run functions.
inline bool runs_functions(const op_def& op) noexcept { return op.calls != calling::never; }

/// The functions that a node runs, in the order of its attributes.
std::vector<const function_value*> functions_of(const node& of);
std::vector<const function_value*> functions_of(const op_def& op, const attr_map& attrs);

/// Which input is the functions' first argument.
int first_argument(const op_def& op) noexcept;

/// Checks that a function takes what these inputs carry, from the first argument on, and gives
/// `results`.
status check_call(const function& called, const std::vector<edge>& inputs, size_t first,
                  const std::vector<dtype>& results);

/// The argument that an output is for all functions of the node: it hands it on. -1 if it does not.
int handed_on(const op_def& op, const attr_map& attrs, size_t output);

/// The port of what goes to a function as a variable or table itself.
extern const port ref_argument;
bool takes_ref(const op_def& op, const attr_map& attrs, size_t argument, edge from);
bool gives_ref(const op_def& op, const attr_map& attrs, size_t output);

} // namespace troupe
