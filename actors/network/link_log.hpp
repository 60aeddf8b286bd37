// What the log of a task says of its connections.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/runtime/types/status.hpp"

namespace troupe {

/// `called`: by this task.
void log_link_opened(step_server& of, const std::string& peer, bool called);
/// Who leaves before a word is said, as a port scan does, is no news. `orderly`: one of the two has
/// said goodbye.
void log_link_lost(step_server& of, const peer_connection& which, const std::string& peer,
                   bool called, const status& why, bool orderly);

} // namespace troupe
