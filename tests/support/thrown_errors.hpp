// The error of a failing expression, for tests.
#pragma once
#include "troupe/api/error.hpp"

#include <string>

namespace troupe::test {

/// The error that `body` throws; ok if it throws none.
inline status status_thrown_by(auto&& body) {
  try {
    body();
  } catch (const error& thrown) {
    return status{thrown.kind(), thrown.what()};
  }
  return {};
}

/// The kind and message of the error that `body` throws: "INVALID_ARGUMENT: ..."; "no error" if
/// none.
inline std::string error_text_of(auto&& body) {
  try {
    body();
  } catch (const error& thrown) {
    return concat(to_string(thrown.kind()), ": ", thrown.what());
  }
  return "no error";
}

} // namespace troupe::test
