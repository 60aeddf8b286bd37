// How much waits in a connection.
#pragma once
#include "troupe/actors/base/messages.hpp"

namespace troupe {

/// Asks its exchange, on this thread; of one that is gone, nothing waits. Any thread may call.
link_look::numbers numbers_of(const peer_connection& which);

} // namespace troupe
