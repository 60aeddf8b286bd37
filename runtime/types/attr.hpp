// Attributes: the named constants that parametrize a node, such as transpose_a of MatMul.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/shape.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

class function;

// GCC's -Wshadow reports that the enumerator `integers` shadows the dtype_set of that name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class attr_kind : uint8_t {
  boolean,
  integer,
  real,
  text,
  type,
  shape,
  tensor,
  integers,
  reals,
  texts,
  types,
  shapes,
  function,
  functions,
};
#pragma GCC diagnostic pop

TROUPE_API std::string_view to_string(attr_kind kind) noexcept;

class attr_value;

/// A function (graph/function.hpp) that a node runs. A node of a function's body, however deeply
/// nested, may name that function without giving its body: this is a recursive call.
struct function_value {
  std::string name;
  std::shared_ptr<const function> body = {};

  bool operator==(const function_value&) const = default;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const function_value& value);

namespace detail {
[[noreturn]] TROUPE_API void throw_wide_attr(uint64_t value);
[[noreturn]] TROUPE_API void throw_bad_attr(std::string_view name, const attr_value* actual,
                                            attr_kind requested);
} // namespace detail

/// A value of one of the kinds of attr_kind. `content` lists the types in the same order.
class TROUPE_API attr_value {
public:
  using content =
      std::variant<bool, int64_t, double, std::string, dtype, partial_shape, troupe::tensor,
                   std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                   std::vector<dtype>, std::vector<partial_shape>, function_value,
                   std::vector<function_value>>;

  attr_value() : content_(false) {}
  template <std::same_as<bool> T> // a template, so that no pointer converts to bool
  attr_value(T value) : content_(value) {}
  /// Throws troupe::error for a number that does not fit into a signed 64-bit integer.
  template <std::integral T>
  requires(!std::same_as<T, bool>) attr_value(T value) : content_(static_cast<int64_t>(value)) {
    if (!std::in_range<int64_t>(value))
      detail::throw_wide_attr(static_cast<uint64_t>(value));
  }
  template <std::floating_point T>
  attr_value(T value) : content_(static_cast<double>(value)) {}
  attr_value(const char* value) : content_(std::string{value}) {}
  attr_value(std::string_view value) : content_(std::string{value}) {}
  attr_value(std::string value) : content_(std::move(value)) {}
  attr_value(dtype value) : content_(value) {}
  attr_value(partial_shape value) : content_(std::move(value)) {}
  attr_value(const shape& value) : content_(partial_shape{value}) {}
  attr_value(troupe::tensor value) : content_(std::move(value)) {}
  attr_value(std::vector<int64_t> value) : content_(std::move(value)) {}
  attr_value(std::vector<double> value) : content_(std::move(value)) {}
  attr_value(std::vector<std::string> value) : content_(std::move(value)) {}
  attr_value(std::vector<dtype> value) : content_(std::move(value)) {}
  attr_value(std::vector<partial_shape> value) : content_(std::move(value)) {}
  attr_value(function_value value) : content_(std::move(value)) {}
  attr_value(std::vector<function_value> value) : content_(std::move(value)) {}

  attr_kind kind() const noexcept { return static_cast<attr_kind>(content_.index()); }
  /// Returns nullptr if the value is of another kind.
  template <class T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&content_);
  }
  const content& get() const noexcept { return content_; }

  /// Compares contents. Tensors are compared by type, shape and bytes.
  bool operator==(const attr_value& other) const noexcept;

private:
  content content_;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const attr_value& value);

using attr_map = std::map<std::string, attr_value, std::less<>>;

namespace detail {
// Returns the attr_kind of a type of attr_value::content.
template <class T, size_t I = 0>
constexpr attr_kind attr_kind_of() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, attr_value::content>>)
    return static_cast<attr_kind>(I);
  else
    return attr_kind_of<T, I + 1>();
}
} // namespace detail

/// Returns the value of an attribute. Throws troupe::error if there is no attribute of that name
/// and kind. Adding a node to a graph checks that it has the attributes of its op.
template <class T>
const T& attr(const attr_map& attrs, std::string_view name) {
  auto found_attr = attrs.find(name);
  auto* value = found_attr == attrs.end() ? nullptr : found_attr->second.get_if<T>();
  if (!value) [[unlikely]]
    detail::throw_bad_attr(name, found_attr == attrs.end() ? nullptr : &found_attr->second,
                           detail::attr_kind_of<T>());
  return *value;
}

} // namespace troupe
