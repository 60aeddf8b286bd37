// Branches, loops and functions (white paper 4.4, OSDI 3.4).
//
// What a branch, a loop or a function does is given as a callable that adds nodes to the graph, as
// everywhere; from its beginning to its end they become a part of the function. It may use edges
// and variables from outside. It may be called several times, and must not make what lives longer
// than a step: variables, queues and tables are made outside and used inside.
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
bool is_empty_function(const std::function<R(Args...)>& given) {
  return !given;
}
[[noreturn]] TROUPE_API void throw_empty_branch(std::source_location where);

// The callable's result as edges; one that gives nothing has effects only.
template <class Builder, class... Args>
std::vector<edge> built(Builder&& build, Args&&... args) {
  using made = std::invoke_result_t<Builder, Args...>;
  if constexpr (std::is_void_v<made>) {
    build(std::forward<Args>(args)...);
    return {};
  } else if constexpr (std::is_convertible_v<made, edge>) {
    return {static_cast<edge>(build(std::forward<Args>(args)...))};
  } else {
    return build(std::forward<Args>(args)...);
  }
}

TROUPE_API node& add_branches(edge which, bool by_number,
                              const std::vector<branch_builder>& branches, std::string_view name,
                              std::source_location where);

} // namespace detail

/// Runs one of two branches: `then` if the predicate holds, with all effects of it and none of the
/// other. Returns what the callables return: an edge, a vector of edges, or, where they return
/// nothing, the node. Both must return the same types.
///
///     auto y = cond(x > 0, [&] { return x * 2; }, [&] { return -x; });
template <std::invocable Then, std::invocable Else>
auto cond(edge predicate, Then then, Else otherwise, std::string_view name = {},
          std::source_location where = std::source_location::current()) {
  if (detail::is_empty_function(then) || detail::is_empty_function(otherwise))
    detail::throw_empty_branch(where);
  auto& made = detail::add_branches(
      predicate, false,
      {[&] { return detail::built(then); }, [&] { return detail::built(otherwise); }}, name, where);
  if constexpr (std::is_void_v<std::invoke_result_t<Then>>)
    return &made;
  else if constexpr (std::is_convertible_v<std::invoke_result_t<Then>, edge>)
    return made.output(0);
  else
    return detail::outputs(made, 0, 0);
}

/// Runs the branch of that number (i32), or the last one where there is no such branch.
TROUPE_API std::vector<edge> case_of(edge number,
                                     const std::vector<detail::branch_builder>& branches,
                                     std::string_view name = {},
                                     std::source_location where = std::source_location::current());

/// How a loop runs.
struct while_options {
  std::string_view name = {};
  /// Shapes of the loop variables in all turns; empty: what they are at first, as far as the body
  /// keeps it.
  std::vector<partial_shape> shapes = {};
  int64_t parallel_iterations = 10; ///< turns under way at once, at most, where turns overlap
  /// Gradients compute again what a turn has computed instead of keeping it: of each turn they keep
  /// loop variables, random numbers and values of variables only, for a third more work.
  bool recompute = false;
  /// What gradients keep of each turn goes to files (session_options::memory.swap_space) as far as
  /// it is large: tensors of 16 KiB and more.
  bool swap_memory = false;
};

/// Computes new values of the loop variables as long as `condition` holds, and returns the last
/// ones. Both callables take the loop variables; `condition` returns a scalar, `body` as many edges
/// of the same types. Shapes may change from turn to turn.
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

/// What a function takes: a value of that type and shape, or a variable or table like that of an
/// edge.
struct argument {
  argument(dtype value_type, const partial_shape& value_dims = {})
      : type(value_type), dims(value_dims) {}
  /// A variable itself if the edge is one, else a value like it.
  argument(edge as) : type(as.type()), dims(as.dims()), like(as) {}

  dtype type;
  partial_shape dims;
  edge like = {};
};

/// A function, and what it takes from outside beside its arguments.
struct defined_function {
  function_value value;
  std::vector<edge> captured = {};
  std::vector<dtype> results = {};
  /// Calls that are added from here on run as one node each, and so do those of its gradient: the
  /// nodes of the function do not take their place.
  bool noinline = false;
};

/// Defines a function, which is built once. With `results`, it may call itself: `build` then gets
/// the function as its first argument, and all that it takes from outside must be arguments.
TROUPE_API defined_function
define(graph& in, std::string_view name, const std::vector<argument>& arguments,
       const std::function<std::vector<edge>(const std::vector<edge>&)>& build,
       std::source_location where = std::source_location::current());
/// The same for a function with a gradient of its own, instead of that of its nodes: `gradient`
/// gets the arguments, and the gradients of those results that are floating, complex or lists, and
/// returns an edge of its shape for each argument; edge{} where it has none. Nothing may be taken
/// from outside but constants, no argument may be a variable itself.
TROUPE_API defined_function
define(graph& in, std::string_view name, const std::vector<argument>& arguments,
       const std::function<std::vector<edge>(const std::vector<edge>&)>& build,
       const std::function<std::vector<edge>(const std::vector<edge>& arguments,
                                             const std::vector<edge>& gradients)>& gradient,
       std::source_location where = std::source_location::current());
TROUPE_API defined_function define_recursive(
    graph& in, std::string_view name, const std::vector<argument>& arguments,
    const std::vector<dtype>& results,
    const std::function<std::vector<edge>(const defined_function&, const std::vector<edge>&)>&
        build,
    std::source_location where = std::source_location::current());

/// Adds a call. Before the step is placed, the nodes of the function take its place, unless the
/// function calls itself or is `noinline`.
TROUPE_API std::vector<edge> call(graph& in, const defined_function& what,
                                  const std::vector<edge>& arguments, std::string_view name = {},
                                  std::source_location where = std::source_location::current());

} // namespace troupe
