// The amounts of pending data in a connection.
#pragma once
#include "troupe/actors/base/messages.hpp"

namespace troupe {

/// Queries the connection's exchange, on this thread; zeros if that has ended. Any thread may call.
link_stats_query::stats link_stats_of(const peer_connection& connection);

} // namespace troupe
