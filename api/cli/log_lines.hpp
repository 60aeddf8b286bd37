// Events of a task as lines.
#pragma once
#include "troupe/runtime/insight/log_event.hpp"

#include <functional>
#include <string>

namespace troupe::cli {

/// Writes events of that level and above to standard error, one line each, at once. `form` is
/// "text", "json", or "none", which gives no hook.
log_hook log_to_stderr(const std::string& form, const std::string& least_level);

/// What says how many lines were lost.
using lost_notice = std::function<std::string(size_t lost)>;

/// Writes a line to standard error, and waits for nobody: where there is no room, as in a pipe that
/// is not read, it is lost, or the rest of a long one, and a line says later how many were. Any
/// thread may call.
void write_line(const std::string& text, const lost_notice& notice);
void write_line(const std::string& text);

/// {"time": "...", "level": "info", "task": "/job:ps/task:0", "event": "link_lost", "peer": ...}
std::string to_json_line(const log_event& what);

} // namespace troupe::cli
