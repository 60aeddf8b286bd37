// Rejects invalid arguments of public functions.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <source_location>
#include <string>
#include <string_view>

namespace troupe {

/// For calls that a command makes on behalf of its user: their errors name no function and no line.
inline constexpr std::source_location no_line{};

/// Returns "function (file:line)", the prefix of errors; empty for no_line.
inline std::string call_text(std::string_view function, const std::source_location& where) {
  return where.line() == 0 ? "" : concat(function, " (", to_string(where), ')');
}

/// Throws invalid_argument: "function (file:line): parts".
[[noreturn]] void reject(std::string_view function, std::source_location where,
                         const auto&... parts) {
  throw error{invalid(parts...).with_context(call_text(function, where))};
}

/// Rejects an empty edge; `name` is the name of the argument.
inline void need_edge(std::string_view function, std::source_location where, const edge& argument,
                      std::string_view name) {
  if (argument.is_empty())
    reject(function, where, name, " is an empty edge");
}

/// Rejects an empty std::function.
template <class Function>
void need_function(std::string_view function, std::source_location where, const Function& argument,
                   std::string_view name) {
  if (!argument)
    reject(function, where, name, " is an empty function");
}

/// Throws failed_precondition for a moved-from object.
inline void need_state(std::string_view function, std::source_location where, bool has_state,
                       std::string_view kind) {
  if (!has_state)
    throw error{failure(error_kind::failed_precondition, "the ", kind,
                        " was moved away: use the one that it was moved to")
                    .with_context(concat(function, " (", to_string(where), ')'))};
}

} // namespace troupe
