// Converts public options to the options of the actors. Internal.
#pragma once
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/api/session_options.hpp"

#include <source_location>

namespace troupe {

/// Converts the options, and adds the library's ops and devices.
client_options to_client(const session_options& options, std::source_location where);
/// Converts the options of a session on a cluster, which uses no GPUs itself.
client_options to_remote_client(session_options options, std::source_location where);

device_choice to_device_choice(const thread_options& threads, const memory_options& memory,
                               const gpu_options& gpu);
/// Fails for an invalid timeout, naming the valid range.
status check_peer_timeout(std::chrono::milliseconds timeout);

} // namespace troupe
