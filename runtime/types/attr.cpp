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
  throw error{invalid("an attribute holds whole numbers of up to 2^63 - 1, got ", value)};
}

void throw_bad_attr(std::string_view name, const attr_value* held, attr_kind asked) {
  if (!held)
    throw error{failure(error_kind::not_found, "there is no attribute '", name, "'")};
  throw error{invalid("the attribute '", name, "' is a ", to_string(held->kind()), ", no ",
                      to_string(asked))};
}

} // namespace detail

bool attr_value::operator==(const attr_value& other) const noexcept {
  if (auto* mine = get_if<troupe::tensor>(), *theirs = other.get_if<troupe::tensor>();
      mine && theirs)
    return identical(*mine, *theirs);
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
  auto print_one = [&](const auto& one) {
    using T = std::decay_t<decltype(one)>;
    if constexpr (std::is_same_v<T, bool>)
      out << (one ? "true" : "false");
    else if constexpr (std::is_same_v<T, std::string>)
      out << in_quotes(one);
    else
      out << one;
  };
  std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.begin(); }) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
            print_one(held);
          } else {
            out << '[';
            for (size_t i = 0; i < held.size(); ++i) {
              out << (i ? ", " : "");
              print_one(held[i]);
            }
            out << ']';
          }
        } else {
          print_one(held);
        }
      },
      value.get());
  return out;
}

} // namespace troupe
