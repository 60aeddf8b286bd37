// Formulas: operators between edges, and short forms of ops.
#pragma once
#include "troupe/api/generated/ops.hpp"

namespace TROUPE_API troupe {

/// The result of comparisons and logical operators: an edge of booleans, whose values are known
/// when a step runs, not while the graph is built. It therefore does not convert to a C++ bool: `if
/// (x > 0)`, `x > 0 ? a : b` and std::find() among edges do not compile. Use cond() and select()
/// instead.
struct truth_edge : edge {
  constexpr truth_edge() = default;
  explicit constexpr truth_edge(const edge& from) noexcept : edge(from) {}
  explicit operator bool() const = delete;
};

// Element by element, with NumPy's broadcasting. At least one side is an edge, or converts to one,
// such as a variable. Literals may be on either side.
edge operator+(operand x, operand y);
edge operator-(operand x, operand y);
edge operator*(operand x, operand y);
edge operator/(operand x, operand y); ///< integers: rounded towards zero
edge operator%(operand x, operand y); ///< with the sign of x, as in C++: TruncateMod
edge operator-(operand x);

// Comparisons, element by element. is_same_edge() tests whether two edges are identical.
truth_edge operator==(operand x, operand y);
truth_edge operator!=(operand x, operand y);
truth_edge operator<(operand x, operand y);
truth_edge operator<=(operand x, operand y);
truth_edge operator>(operand x, operand y);
truth_edge operator>=(operand x, operand y);

// Logic between booleans, element by element; `and`, `or` and `not` are the same operators. Both
// sides are nodes of the graph, and both are computed. Use cond() if the right one must not run
// unless the left one is true. A C++ bool beside an edge does not compile, nor does `if (!x)`,
// which would not read the value: use edge::is_empty() to test for an empty edge.
truth_edge operator&&(operand x, operand y);
truth_edge operator||(operand x, operand y);
truth_edge operator!(operand x);

// Reductions over all elements: the result is a scalar.
edge sum(operand x, std::source_location where = std::source_location::current());
edge mean(operand x, std::source_location where = std::source_location::current());
edge max(operand x, std::source_location where = std::source_location::current());
edge min(operand x, std::source_location where = std::source_location::current());

namespace detail {

truth_edge logical_and(const edge& x, const operand& y);
truth_edge logical_or(const edge& x, const operand& y);
truth_edge logical_not(const edge& x);

template <class T>
concept no_graph_truth = std::same_as<T, bool> || !std::convertible_to<T, operand>;

} // namespace detail

// An edge converts explicitly to a C++ bool, which is false for an empty edge. These overloads are
// better matches than the built-in operators, which would use that conversion.
template <std::derived_from<edge> X>
truth_edge operator&&(const X& x, operand y) {
  return detail::logical_and(x, y);
}
template <std::derived_from<edge> X>
truth_edge operator||(const X& x, operand y) {
  return detail::logical_or(x, y);
}
template <std::derived_from<edge> X>
truth_edge operator!(const X& x) {
  return detail::logical_not(x);
}
template <std::derived_from<edge> X, detail::no_graph_truth Y>
void operator&&(const X& x, const Y& y) = delete;
template <detail::no_graph_truth X, std::derived_from<edge> Y>
void operator&&(const X& x, const Y& y) = delete;
template <std::derived_from<edge> X, detail::no_graph_truth Y>
void operator||(const X& x, const Y& y) = delete;
template <detail::no_graph_truth X, std::derived_from<edge> Y>
void operator||(const X& x, const Y& y) = delete;

} // namespace troupe
