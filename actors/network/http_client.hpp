// An HTTP client without TLS.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace troupe {

struct address;

/// Posts JSON and returns the body of the answer. Fails with unavailable, within the timeout; also
/// if the service answers with another status than 200: then the error contains the beginning of
/// the body. Blocks the thread.
result<std::string> http_post(const address& service, std::string_view target, std::string body,
                              std::chrono::milliseconds timeout);

} // namespace troupe
