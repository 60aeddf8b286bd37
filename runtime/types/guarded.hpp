// Where exceptions of others become errors.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <type_traits>
#include <utility>

namespace troupe {

/// Called in a catch block: the error that the exception stands for; memory that is short is
/// resource_exhausted. `doing` says what it ended: "compiling a step".
TROUPE_API status explain_exception(std::string_view doing);

/// Does `act`, and returns what it returns, a status or result; or what it throws, as an error.
template <class Act>
auto guarded(std::string_view doing, Act&& act) {
  using outcome = decltype(act());
  if constexpr (std::is_void_v<outcome>) {
    return guarded(doing, [&] {
      act();
      return status{};
    });
  } else {
    try {
      return std::forward<Act>(act)();
    } catch (...) {
      return outcome{explain_exception(doing)};
    }
  }
}

} // namespace troupe
