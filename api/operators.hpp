// Formulas: operators between edges, and short forms of ops.
#pragma once
#include "troupe/api/generated/ops.hpp"

namespace TROUPE_API troupe {

/// What comparisons and the operators of logic give: an edge of truth values, which are known when
/// a step runs, and not while the graph is built. So it is no truth value of C++: `if (x > 0)`,
/// `x > 0 ? a : b` and std::find() among edges do not compile. cond() and select() choose by it.
struct truth_edge : edge {
  constexpr truth_edge() = default;
  explicit constexpr truth_edge(const edge& from) noexcept : edge(from) {}
  explicit operator bool() const = delete;
};

// Element by element, with NumPy's broadcasting. At least one side is an edge, or what stands for
// one, such as a variable; literals may stand on either side.
edge operator+(operand x, operand y);
edge operator-(operand x, operand y);
edge operator*(operand x, operand y);
edge operator/(operand x, operand y); ///< of whole numbers: rounded towards zero
edge operator%(operand x, operand y); ///< with the sign of x, as in C++: TruncateMod
edge operator-(operand x);

// Comparisons, element by element likewise. Whether two edges are the same one says
// is_same_edge().
truth_edge operator==(operand x, operand y);
truth_edge operator!=(operand x, operand y);
truth_edge operator<(operand x, operand y);
truth_edge operator<=(operand x, operand y);
truth_edge operator>(operand x, operand y);
truth_edge operator>=(operand x, operand y);

// Logic between truth values, element by element likewise; `and`, `or` and `not` are the same
// operators. Both sides are nodes of the graph, and both are computed: where the right one must not
// run unless the left one holds, use cond(). A truth value of C++ beside an edge does not compile,
// nor does `if (!x)`, which would not look at the value: whether an edge is one to nothing says
// edge::is_nothing().
truth_edge operator&&(operand x, operand y);
truth_edge operator||(operand x, operand y);
truth_edge operator!(operand x);

// Over all elements: the result is a scalar.
edge sum(operand x, std::source_location where = std::source_location::current());
edge mean(operand x, std::source_location where = std::source_location::current());
edge max(operand x, std::source_location where = std::source_location::current());
edge min(operand x, std::source_location where = std::source_location::current());

namespace detail {

truth_edge both(const edge& x, const operand& y);
truth_edge either(const edge& x, const operand& y);
truth_edge negated(const edge& x);

template <class T>
concept no_graph_truth = std::same_as<T, bool> || !std::convertible_to<T, operand>;

} // namespace detail

// An edge can be made a truth value of C++, which says whether it is one to nothing. These fit
// better than the operators of the language, which would take that.
template <std::derived_from<edge> X>
truth_edge operator&&(const X& x, operand y) {
  return detail::both(x, y);
}
template <std::derived_from<edge> X>
truth_edge operator||(const X& x, operand y) {
  return detail::either(x, y);
}
template <std::derived_from<edge> X>
truth_edge operator!(const X& x) {
  return detail::negated(x);
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
