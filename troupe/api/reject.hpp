// How functions of the public interface refuse their arguments.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <source_location>
#include <string_view>

namespace troupe {

/// Throws invalid_argument: "function (file:line): parts".
[[noreturn]] void reject(std::string_view function, std::source_location where,
                         const auto&... parts) {
  throw error{invalid(parts...).within(concat(function, " (", to_string(where), ')'))};
}

} // namespace troupe
