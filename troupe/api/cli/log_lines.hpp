// Events of a task as lines.
#pragma once
#include "troupe/runtime/insight/log_event.hpp"

namespace troupe::cli {

/// Writes events of that level and above to standard error, one line each, at once. `form` is
/// "text", "json", or "none", which gives no hook.
log_hook log_to_stderr(const std::string& form, const std::string& least_level);

/// {"time": "...", "level": "info", "task": "/job:ps/task:0", "event": "link_lost", "peer": ...}
std::string to_json_line(const log_event& what);

} // namespace troupe::cli
