// What an op takes in a formula: an edge, or a number or list that becomes a constant.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <concepts>
#include <source_location>

namespace troupe {

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;

/// Letters are no numbers: `x + 'a'` does not compile.
template <class T>
concept character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

/// Made implicitly from what the user writes, and remembers the line. Literals take the type that
/// the op's other inputs ask for: `x * 2` multiplies by 2.0 where x is f32; `sum(x, {0, 1})` sums
/// over the axes 0 and 1. A literal that cannot have that type is an error: see converted().
class operand {
public:
  using location = std::source_location;

  operand(edge from, location line = location::current()) : from_(from), where_(line) {}
  /// From a variable_handle, or whatever else stands for an edge.
  template <std::convertible_to<edge> T>
  requires(!std::derived_from<T, edge> && !arithmetic<T>)
      operand(const T& from, location line = location::current())
      : from_(static_cast<edge>(from)), where_(line) {}
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
      : value_(tensor::of(shape{static_cast<int64_t>(values.size())}, values)), literal_(true),
        where_(line) {}

  bool is_edge() const noexcept { return value_.empty(); }
  const edge& from() const noexcept { return from_; }
  const tensor& value() const noexcept { return value_; }
  bool literal() const noexcept { return literal_; } ///< its type may adapt
  const location& where() const noexcept { return where_; }

private:
  edge from_;
  tensor value_;
  bool literal_ = false;
  location where_;
};

/// Returns the numbers of a literal in another type. Fails for
///
/// - a truth value, where the type is not bool; 0 and 1 are truth values where it is;
/// - a whole number that the type cannot hold: 3'000'000'000 in i32, 16'777'217 in f32, also where
///   it is written as a double, up to the numbers that doubles hold without a gap;
/// - a fraction in a type of whole numbers;
/// - a finite number that would be infinite: 1e39 in f32.
///
/// Fractions, and doubles from 2^53 on, are rounded to the nearest number of a floating type.
TROUPE_API result<tensor> converted(const tensor& literal, dtype to);

namespace detail {

using operands = std::vector<operand>;

TROUPE_API operands list(const std::vector<edge>& from, std::source_location where);

/// Adds a node, turning literals into constants. `in` may be nullptr when one of the operands is an
/// edge. The operands of each port are a list of their own. Throws troupe::error.
TROUPE_API node& add_node(graph* in, std::string_view op, std::vector<operands> inputs,
                          attr_map attrs, std::string_view name, std::source_location where);

/// The outputs of a node without the first and last few.
TROUPE_API std::vector<edge> outputs(node& of, int first, int behind);
/// The next `count` outputs of a node.
TROUPE_API std::vector<edge> next_outputs(node& of, int& next, int64_t count);

} // namespace detail
} // namespace troupe
