// Events with fields that a task reports to the host program's log.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/property.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class log_level : uint8_t { debug, info, warning, error };

TROUPE_API std::string_view to_string(log_level level) noexcept;

/// docs/operating.md lists the events.
struct log_event {
  log_level level = log_level::info;
  std::chrono::system_clock::time_point time;
  std::string task;       ///< "/job:ps/task:0"
  std::string_view event; ///< "link_lost"
  std::vector<property> fields;
};

/// Called on any thread of the task, possibly on several at the same time. It must not block.
/// Exceptions that it throws are dropped.
using log_hook = std::function<void(const log_event&)>;

/// "2026-11-25T10:35:19.123Z".
TROUPE_API std::string time_text(std::chrono::system_clock::time_point at);

/// One line: `2026-11-25T10:35:19.123Z info /job:ps/task:0 link_lost peer="client 5" why=closed`.
TROUPE_API std::string to_line(const log_event& event);

} // namespace troupe
