// How functions of the public interface refuse their arguments.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <source_location>
#include <string>
#include <string_view>

namespace troupe {

/// For calls that a command makes for its user: their errors name no function and no line.
inline constexpr std::source_location no_line{};

/// "function (file:line)", which stands before errors; nothing for no_line.
inline std::string call_text(std::string_view function, const std::source_location& where) {
  return where.line() == 0 ? "" : concat(function, " (", to_string(where), ')');
}

/// Throws invalid_argument: "function (file:line): parts".
[[noreturn]] void reject(std::string_view function, std::source_location where,
                         const auto&... parts) {
  throw error{invalid(parts...).within(call_text(function, where))};
}

} // namespace troupe
