// What an error says that a test wants.
#pragma once
#include "troupe/api/error.hpp"

#include <string>

namespace troupe::test {

/// The error that act throws; ok if it throws none.
inline status thrown_by(auto&& act) {
  try {
    act();
  } catch (const error& why) {
    return status{why.kind(), why.what()};
  }
  return {};
}

/// The kind and message of the error that act throws: "INVALID_ARGUMENT: ..."; "no error" if none.
inline std::string failure_of(auto&& act) {
  try {
    act();
  } catch (const error& why) {
    return concat(to_string(why.kind()), ": ", why.what());
  }
  return "no error";
}

} // namespace troupe::test
