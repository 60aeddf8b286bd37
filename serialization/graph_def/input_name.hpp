// The syntax of inputs of nodes.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <charconv>
#include <string_view>

namespace troupe::graph_def {

/// An input of a node: "node", "node:1", "^node".
struct input_name {
  std::string_view node;
  int output = 0;
  bool control = false;

  static result<input_name> parse(std::string_view text);
};

/// Parses all of the digits as a number that is not negative.
template <class T>
bool read_number(std::string_view digits, T& value) {
  const auto* last = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), last, value);
  return error == std::errc{} && stop == last && value >= 0;
}

} // namespace troupe::graph_def
