#include "troupe/runtime/types/attr.hpp"

#include "troupe/runtime/types/error.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <array>
#include <ostream>

namespace troupe {

std::string_view to_string(attr_kind kind) noexcept {
  constexpr std::array<std::string_view, 14> names{"bool",           "int",
                                                   "float",          "string",
                                                   "type",           "shape",
                                                   "tensor",         "list of ints",
                                                   "list of floats", "list of strings",
                                                   "list of types",  "list of shapes",
                                                   "function",       "list of functions"};
  return names[static_cast<size_t>(kind)];
}

namespace detail {

void throw_wide_attr(uint64_t value) {
  throw error{invalid("an integer attribute is at most 2^63 - 1, got ", value)};
}

void throw_bad_attr(std::string_view name, const attr_value* actual, attr_kind requested) {
  if (!actual)
    throw error{failure(error_kind::not_found, "there is no attribute '", name, "'")};
  throw error{invalid("the attribute '", name, "' is a ", to_string(actual->kind()), ", not a ",
                      to_string(requested))};
}

} // namespace detail

bool attr_value::operator==(const attr_value& other) const noexcept {
  if (auto* left = get_if<troupe::tensor>(), *right = other.get_if<troupe::tensor>(); left && right)
    return identical(*left, *right);
  if (kind() != other.kind() || kind() == attr_kind::tensor)
    return false;
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, troupe::tensor>)
          return false;
        else
          return value == *other.get_if<T>();
      },
      content_);
}

std::ostream& operator<<(std::ostream& out, const function_value& value) {
  return out << value.name;
}

std::ostream& operator<<(std::ostream& out, const attr_value& value) {
  auto print_item = [&](const auto& item) {
    using T = std::decay_t<decltype(item)>;
    if constexpr (std::is_same_v<T, bool>)
      out << (item ? "true" : "false");
    else if constexpr (std::is_same_v<T, std::string>)
      out << in_quotes(item);
    else
      out << item;
  };
  std::visit(
      [&](const auto& content) {
        if constexpr (requires { content.begin(); }) {
          if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::string>) {
            print_item(content);
          } else {
            out << '[';
            for (size_t i = 0; i < content.size(); ++i) {
              out << (i ? ", " : "");
              print_item(content[i]);
            }
            out << ']';
          }
        } else {
          print_item(content);
        }
      },
      value.get());
  return out;
}

} // namespace troupe
