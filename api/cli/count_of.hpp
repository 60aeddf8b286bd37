// Counts with nouns for messages.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe::cli {

/// "1 step", "2 steps".
inline std::string count_of(size_t count, std::string_view noun) {
  return concat(count, ' ', noun, count == 1 ? "" : "s");
}

} // namespace troupe::cli
