// Converts exceptions of plug-ins and libraries into errors.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <type_traits>
#include <utility>

namespace troupe {

/// Returns the error that the current exception stands for; std::bad_alloc becomes
/// resource_exhausted. Called in a catch block. `activity` names the failed work: "compiling a
/// step".
TROUPE_API status explain_exception(std::string_view activity);

/// Calls `function` and returns its status or result. An exception becomes an error.
template <class Function>
auto guarded(std::string_view activity, Function&& function) {
  using outcome = decltype(function());
  if constexpr (std::is_void_v<outcome>) {
    return guarded(activity, [&] {
      function();
      return status{};
    });
  } else {
    try {
      return std::forward<Function>(function)();
    } catch (...) {
      return outcome{explain_exception(activity)};
    }
  }
}

} // namespace troupe
