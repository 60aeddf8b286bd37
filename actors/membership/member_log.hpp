// Writes log events about members of a cluster that tasks join.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"
#include "troupe/runtime/insight/event_log.hpp"

namespace troupe {

/// Logs the differences between two lists: the coordinator, and each member whose presence or
/// incarnation has changed. If `before` is the empty list, members are not logged.
void log_members(event_log& log, const member_list& before, const member_list& now);

} // namespace troupe
