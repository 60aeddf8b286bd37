// Writes the events of a task's connections to its log.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/runtime/types/status.hpp"

namespace troupe {

/// `called`: this task opened the connection.
void log_link_opened(step_server& server, const std::string& peer, bool called);
/// A peer that leaves before its first message, as a port scanner does, is logged at debug level.
/// `orderly`: one of the two sent goodbye.
void log_link_lost(step_server& server, const peer_connection& connection, const std::string& peer,
                   bool called, const status& why, bool orderly);

} // namespace troupe
