// Asks a service by HTTP, without TLS.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace troupe {

struct address;

/// Posts JSON and returns what is answered. Fails with unavailable, within the patience; also where
/// the service answers with another status than 200: then the error says what it said. Blocks the
/// thread.
result<std::string> http_post(const address& to, std::string_view target, std::string body,
                              std::chrono::milliseconds patience);

} // namespace troupe
