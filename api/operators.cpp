#include "troupe/api/operators.hpp"
// Operators between edges. They have no parameter for the line of the call, so they use the line
// that the operands have recorded.

#include "troupe/api/error.hpp"

#include <numeric>

namespace troupe {
namespace {

edge binary(const char* op, const operand& x, const operand& y) {
  return detail::add_node(nullptr, op, {{x}, {y}}, {}, {}, x.where()).output(0);
}

edge reduce_all(const char* op, const operand& x, std::source_location where) {
  auto input = x.source();
  std::vector<int32_t> axes{0};
  if (input.node && input.dims().has_rank()) {
    axes.resize(static_cast<size_t>(input.dims().rank()));
    std::iota(axes.begin(), axes.end(), 0);
  } else if (input) {
    input = reshape(input, {-1}, {}, where);
  }
  return detail::add_node(nullptr, op,
                          {{operand{input, where}}, {operand{tensor::vector(axes), where}}}, {}, {},
                          where)
      .output(0);
}

} // namespace

edge operator+(operand x, operand y) { return binary("Add", x, y); }
edge operator-(operand x, operand y) { return binary("Sub", x, y); }
edge operator*(operand x, operand y) { return binary("Mul", x, y); }
edge operator/(operand x, operand y) { return binary("Div", x, y); }
edge operator%(operand x, operand y) { return binary("TruncateMod", x, y); }

truth_edge operator==(operand x, operand y) { return truth_edge{binary("Equal", x, y)}; }
truth_edge operator!=(operand x, operand y) { return truth_edge{binary("NotEqual", x, y)}; }
truth_edge operator<(operand x, operand y) { return truth_edge{binary("Less", x, y)}; }
truth_edge operator<=(operand x, operand y) { return truth_edge{binary("LessEqual", x, y)}; }
truth_edge operator>(operand x, operand y) { return truth_edge{binary("Greater", x, y)}; }
truth_edge operator>=(operand x, operand y) { return truth_edge{binary("GreaterEqual", x, y)}; }

truth_edge operator&&(operand x, operand y) { return truth_edge{binary("LogicalAnd", x, y)}; }
truth_edge operator||(operand x, operand y) { return truth_edge{binary("LogicalOr", x, y)}; }
truth_edge operator!(operand x) {
  return truth_edge{detail::add_node(nullptr, "LogicalNot", {{x}}, {}, {}, x.where()).output(0)};
}

namespace detail {

truth_edge logical_and(const edge& x, const operand& y) { return operand{x, y.where()} && y; }
truth_edge logical_or(const edge& x, const operand& y) { return operand{x, y.where()} || y; }
// Only the node that produces x has a line.
truth_edge logical_not(const edge& x) {
  return !operand{x, x.node ? x.node->where() : std::source_location{}};
}

} // namespace detail

edge operator-(operand x) {
  return detail::add_node(nullptr, "Neg", {{x}}, {}, {}, x.where()).output(0);
}

edge sum(operand x, std::source_location where) { return reduce_all("Sum", x, where); }
edge mean(operand x, std::source_location where) { return reduce_all("Mean", x, where); }
edge max(operand x, std::source_location where) { return reduce_all("Max", x, where); }
edge min(operand x, std::source_location where) { return reduce_all("Min", x, where); }

} // namespace troupe
