// Writes the events of a task's connections to its log.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/runtime/types/status.hpp"

namespace troupe {

/// Logs that a peer has sent its hello. `called`: this task opened the connection.
void log_link_opened(step_server& server, const std::string& peer, bool called);
/// Logs the end of a connection. Logs it at debug level if the peer has sent nothing, as a port
/// scanner does. `orderly`: one of the two sent goodbye.
void log_link_lost(step_server& server, const peer_connection& connection, const std::string& peer,
                   bool called, const status& why, bool orderly);

} // namespace troupe
