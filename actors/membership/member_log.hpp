// What the log of a task says of the members of a cluster that is joined.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"
#include "troupe/runtime/insight/event_log.hpp"

namespace troupe {

/// Tells what makes `now` another list than `before`: who decides it, and how members are. Of the
/// first list, members are no news.
void log_members(event_log& to, const member_list& before, const member_list& now);

} // namespace troupe
