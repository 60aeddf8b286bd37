// What a user's options mean to the actors. Not for users.
#pragma once
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/api/session_options.hpp"

#include <source_location>

namespace troupe {

/// Adds the library's ops and devices.
client_options to_client(const session_options& from, std::source_location where);
/// For a session on a cluster: the GPUs are its tasks' to have.
client_options to_remote_client(session_options from, std::source_location where);

device_choice to_device_choice(const thread_options& threads, const memory_options& memory,
                               const gpu_options& gpu);
/// Says which values may be, where `timeout` is none of them.
status check_peer_timeout(std::chrono::milliseconds timeout);

} // namespace troupe
