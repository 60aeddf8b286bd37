// Asks a service by HTTP, without TLS.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace troupe {

struct address;

/// Posts JSON and returns what is answered, also where the answer is an error of the service's.
/// Fails with unavailable, within the patience. Blocks the thread.
result<std::string> http_post(const address& to, std::string_view target, std::string body,
                              std::chrono::milliseconds patience);

} // namespace troupe
