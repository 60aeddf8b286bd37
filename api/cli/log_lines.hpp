// Writes events of a task as lines.
#pragma once
#include "troupe/runtime/insight/log_event.hpp"

#include <functional>
#include <string>

namespace troupe::cli {

/// Returns a hook that writes events of at least this level to standard error, one line each,
/// immediately. `form` is "text", "json", or "none", for which no hook is returned.
log_hook log_to_stderr(const std::string& form, const std::string& minimum_level);

/// Returns the line that reports the number of lost lines.
using lost_notice = std::function<std::string(size_t lost)>;

/// Writes a line to standard error without blocking. If there is no room, as in a pipe without a
/// reader, the line or the rest of a long line is lost, and a later line reports the number of lost
/// lines. Thread-safe.
void write_line(const std::string& text, const lost_notice& notice);
void write_line(const std::string& text);

/// {"time": "...", "level": "info", "task": "/job:ps/task:0", "event": "link_lost", "peer": ...}
std::string to_json_line(const log_event& event);

} // namespace troupe::cli
