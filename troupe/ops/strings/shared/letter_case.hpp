// StringLower and StringUpper differ in the letters.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline result<shapes> infer_letter_case(const infer_context& at) {
  if (const auto& encoding = at.attr<std::string>("encoding"); !encoding.empty())
    return at.invalid("encoding must be empty, which means ASCII, got '", encoding, "'");
  return shapes{at.input(0)};
}

} // namespace troupe::ops
