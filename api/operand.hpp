// The argument of an op in a formula: an edge, or a number or list that becomes a constant.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <concepts>
#include <source_location>

namespace troupe {

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;

/// Characters are not numbers: `x + 'a'` does not compile.
template <class T>
concept character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

/// Converts implicitly from an edge, a tensor or a literal, and records the line. Literals take the
/// type that the op's other inputs require: `x * 2` multiplies by 2.0 if x is f32; `sum(x, {0, 1})`
/// sums over the axes 0 and 1. A literal that cannot have that type is an error: see
/// convert_literal().
class operand {
public:
  using location = std::source_location;

  operand(edge source, location line = location::current()) : source_(source), where_(line) {}
  /// From a variable_handle, or another type that converts to an edge.
  template <std::convertible_to<edge> T>
  requires(!std::derived_from<T, edge> && !arithmetic<T>)
      operand(const T& from, location line = location::current())
      : source_(static_cast<edge>(from)), where_(line) {}
  operand(tensor value, location line = location::current())
      : value_(std::move(value)), where_(line) {}
  template <character T>
  operand(T, location = location::current()) = delete;
  template <arithmetic T>
  requires(!character<T>) operand(T value, location line = location::current())
      : value_(tensor::scalar(value)), literal_(true), where_(line) {}
  template <arithmetic T>
  requires(!character<T>)
      operand(std::initializer_list<T> values, location line = location::current())
      : value_(tensor::from_values(shape{static_cast<int64_t>(values.size())}, values)),
        literal_(true), where_(line) {}

  bool is_edge() const noexcept { return value_.empty(); }
  const edge& source() const noexcept { return source_; }
  const tensor& value() const noexcept { return value_; }
  bool literal() const noexcept { return literal_; } ///< its type may adapt
  const location& where() const noexcept { return where_; }

private:
  edge source_;
  tensor value_;
  bool literal_ = false;
  location where_;
};

/// Converts the numbers of a literal to another type. Fails for
///
/// - a bool, if the type is not bool; 0 and 1 convert to bool;
/// - an integer that the type cannot hold: 3'000'000'000 in i32, 16'777'217 in f32; also if it is
/// written as a double, up to 2^53, below which doubles hold every integer;
/// - a fraction in an integer type;
/// - a finite number that would become infinite: 1e39 in f32.
///
/// Fractions, and doubles from 2^53 on, are rounded to the nearest value of a floating type.
TROUPE_API result<tensor> convert_literal(const tensor& literal, dtype to);

namespace detail {

using operands = std::vector<operand>;

TROUPE_API operands list(const std::vector<edge>& from, std::source_location where);

/// Adds a node, turning literals into constants. `in` may be nullptr if one of the operands is an
/// edge. The operands of each port are a separate list. Throws troupe::error.
TROUPE_API node& add_node(graph* in, std::string_view op, std::vector<operands> inputs,
                          attr_map attrs, std::string_view name, std::source_location where);

/// Returns the outputs of a node without the first `first` and the last `behind`.
TROUPE_API std::vector<edge> outputs(node& producer, int first, int behind);
/// Returns the next `count` outputs of a node, and advances `next`.
TROUPE_API std::vector<edge> next_outputs(node& producer, int& next, int64_t count);

} // namespace detail
} // namespace troupe
