// Functions: named parts of graphs that nodes run, as calls, branches and loops do (white paper,
// 4.4). Every level of a graph stays without cycles: a loop is a node, and what it repeats is a
// function.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <map>

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

/// A graph on its way to be a function. From its construction to its end, what is added to the
/// graph around it becomes a part of it, and the edges of graphs around it that it takes become
/// arguments (captures), small constants excepted.
class TROUPE_API function_body : public graph {
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
  /// What was captured, in the order of the arguments; they follow those that were added before.
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
TROUPE_API open_function opened(const function& of);
/// Adds an argument to a graph that is to be a function's: a value like what the edge carries.
TROUPE_API result<edge> add_value_argument(graph& to, size_t index, edge like);

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
