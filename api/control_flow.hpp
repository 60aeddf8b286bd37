// Branches, loops and functions (white paper 4.4, OSDI 3.4).
//
// A branch, a loop or a function is given as a callable that adds nodes to the graph. All nodes
// that the callable adds become part of the function. It may use edges and variables from outside.
// It may be called several times, and must not create variables, queues or tables, which outlive a
// step: those are created outside and used inside.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/graph/function.hpp"

#include <functional>

namespace troupe {

namespace detail {

using branch_builder = std::function<std::vector<edge>()>;

// Of a callable, only a std::function can be empty.
template <class F>
constexpr bool is_empty_function(const F&) {
  return false;
}
template <class R, class... Args>
bool is_empty_function(const std::function<R(Args...)>& function) {
  return !function;
}
[[noreturn]] TROUPE_API void throw_empty_branch(std::source_location where);

// Returns the callable's result as edges. A callable without a result has effects only.
template <class Builder, class... Args>
std::vector<edge> build_edges(Builder&& build, Args&&... args) {
  using result_type = std::invoke_result_t<Builder, Args...>;
  if constexpr (std::is_void_v<result_type>) {
    build(std::forward<Args>(args)...);
    return {};
  } else if constexpr (std::is_convertible_v<result_type, edge>) {
    return {static_cast<edge>(build(std::forward<Args>(args)...))};
  } else {
    return build(std::forward<Args>(args)...);
  }
}

TROUPE_API node& add_branches(edge selector, bool by_number,
                              const std::vector<branch_builder>& branches, std::string_view name,
                              std::source_location where);

} // namespace detail

/// Runs one of two branches: `then` if the predicate is true, else `otherwise`. Only the effects of
/// that branch happen. Returns what the callables return: an edge, a vector of edges, or the node
/// if they return nothing. Both must return the same types.
///
///     auto y = cond(x > 0, [&] { return x * 2; }, [&] { return -x; });
template <std::invocable Then, std::invocable Else>
auto cond(edge predicate, Then then, Else otherwise, std::string_view name = {},
          std::source_location where = std::source_location::current()) {
  if (detail::is_empty_function(then) || detail::is_empty_function(otherwise))
    detail::throw_empty_branch(where);
  auto& branch_node = detail::add_branches(
      predicate, false,
      {[&] { return detail::build_edges(then); }, [&] { return detail::build_edges(otherwise); }},
      name, where);
  if constexpr (std::is_void_v<std::invoke_result_t<Then>>)
    return &branch_node;
  else if constexpr (std::is_convertible_v<std::invoke_result_t<Then>, edge>)
    return branch_node.output(0);
  else
    return detail::outputs(branch_node, 0, 0);
}

/// Runs the branch with this index (i32), or the last branch if there is none with this index.
TROUPE_API std::vector<edge>
switch_case(edge index, const std::vector<detail::branch_builder>& branches,
            std::string_view name = {},
            std::source_location where = std::source_location::current());

/// How a loop runs.
struct while_options {
  std::string_view name = {};
  /// Shapes of the loop variables in all iterations. Empty: their initial shapes, as far as the
  /// body preserves them.
  std::vector<partial_shape> shapes = {};
  int64_t parallel_iterations = 10; ///< limit of iterations in progress, where iterations overlap
  /// Gradients recompute the values of an iteration instead of keeping them. For each iteration
  /// they keep only loop variables, random numbers and values of variables, for about a third more
  /// work.
  bool recompute = false;
  /// Gradients store the values that they keep of each iteration in files
  /// (session_options::memory.swap_space) if they are large: tensors of 16 KiB and more.
  bool swap_memory = false;
};

/// Computes new values of the loop variables as long as `condition` holds, and returns the last
/// ones. Both callables take the loop variables. `condition` returns a scalar, `body` as many edges
/// of the same types. Shapes may change between iterations.
///
///     auto sum = while_loop({g.constant(0), g.constant(0.0f)},
///                           [](auto& v) { return less(v[0], 10); },
///                           [&](auto& v) { return edges{v[0] + 1, v[1] + x}; })[1];
TROUPE_API std::vector<edge>
while_loop(const std::vector<edge>& initial,
           const std::function<edge(const std::vector<edge>&)>& condition,
           const std::function<std::vector<edge>(const std::vector<edge>&)>& body,
           const while_options& options = {},
           std::source_location where = std::source_location::current());

/// An argument of a function: a value of this type and shape, or a variable or table like that of
/// an edge.
struct argument {
  argument(dtype value_type, const partial_shape& value_dims = {})
      : type(value_type), dims(value_dims) {}
  /// The variable itself if the edge is one, else a value with the edge's type and shape.
  argument(edge model_edge) : type(model_edge.type()), dims(model_edge.dims()), model(model_edge) {}

  dtype type;
  partial_shape dims;
  edge model = {};
};

/// A function, and the edges that it captures from outside in addition to its arguments.
struct defined_function {
  function_value value;
  std::vector<edge> captured = {};
  std::vector<dtype> results = {};
  /// Later calls run as one node each, and so do the calls of the gradient. They are not replaced
  /// by the nodes of the function.
  bool noinline = false;
};

/// Defines a function, whose nodes are built once.
TROUPE_API defined_function
define(graph& in, std::string_view name, const std::vector<argument>& arguments,
       const std::function<std::vector<edge>(const std::vector<edge>&)>& build,
       std::source_location where = std::source_location::current());
/// Defines a function with an explicit gradient, instead of the gradient of its nodes. `gradient`
/// gets the arguments, and the gradients of those results that are floating, complex or lists. It
/// returns an edge for each argument, of the argument's shape, or edge{} for an argument without a
/// gradient. The function may capture constants only, and no argument may be a variable itself.
TROUPE_API defined_function
define(graph& in, std::string_view name, const std::vector<argument>& arguments,
       const std::function<std::vector<edge>(const std::vector<edge>&)>& build,
       const std::function<std::vector<edge>(const std::vector<edge>& arguments,
                                             const std::vector<edge>& gradients)>& gradient,
       std::source_location where = std::source_location::current());
/// Defines a function that may call itself: `build` gets the function as its first argument, and
/// `results` declares its result types. The function captures nothing: all that it uses must be
/// arguments.
TROUPE_API defined_function define_recursive(
    graph& in, std::string_view name, const std::vector<argument>& arguments,
    const std::vector<dtype>& results,
    const std::function<std::vector<edge>(const defined_function&, const std::vector<edge>&)>&
        build,
    std::source_location where = std::source_location::current());

/// Adds a call. Before the step is placed, the call is replaced by the nodes of the function,
/// unless the function calls itself or is `noinline`.
TROUPE_API std::vector<edge> call(graph& in, const defined_function& function,
                                  const std::vector<edge>& arguments, std::string_view name = {},
                                  std::source_location where = std::source_location::current());

} // namespace troupe
