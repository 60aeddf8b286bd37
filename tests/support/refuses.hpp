// Checks that a function refuses its arguments.
#pragma once
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"

#include <string>
#include <string_view>

namespace troupe::test {

/// Checks that `body` throws an error whose text contains `expected`. Messages of Catch2 show
/// `function`, the name of the tested function.
inline void refuses(std::string_view function, const std::string& expected, auto&& body) {
  CAPTURE(function);
  auto failure = error_text_of(body);
  CHECK(failure != "no error");
  CHECK_THAT(failure, Catch::Contains(expected));
}

} // namespace troupe::test
