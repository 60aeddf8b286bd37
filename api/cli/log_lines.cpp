#include "troupe/api/cli/log_lines.hpp"
// Writes events of a task as lines to standard error.

#include "troupe/runtime/types/printable.hpp"
#include "troupe/runtime/types/status.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <mutex>
#include <string_view>

#include <poll.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

log_level level_of(const std::string& name) {
  for (auto level : {log_level::debug, log_level::info, log_level::warning})
    if (name == to_string(level))
      return level;
  return log_level::error;
}

} // namespace

log_hook log_to_stderr(const std::string& form, const std::string& minimum_level) {
  if (form == "none")
    return {};
  return [json = form == "json", minimum = level_of(minimum_level)](const log_event& event) {
    if (event.level < minimum)
      return;
    auto line_of = [json](const log_event& shown) {
      return json ? to_json_line(shown) : to_line(shown);
    };
    write_line(line_of(event), [&](size_t lost) {
      return line_of({std::max(log_level::warning, minimum),
                      event.time,
                      event.task,
                      "lines_lost",
                      {{"count", static_cast<int64_t>(lost)}}});
    });
  };
}

void write_line(const std::string& text, const lost_notice& notice) {
  constexpr size_t chunk_bytes = 4096; // a writable pipe has room for this many bytes
  static std::mutex mutex;
  static size_t lost = 0;
  static bool is_torn = false;
  std::lock_guard guard{mutex};
  auto write = [chunk_bytes](std::string line) {
    line.insert(0, is_torn ? "\n" : "").push_back('\n');
    for (std::string_view remaining = line; !remaining.empty();) {
      pollfd room{STDERR_FILENO, POLLOUT, 0};
      auto fits = ::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0;
      auto written =
          fits ? ::write(STDERR_FILENO, remaining.data(), std::min(remaining.size(), chunk_bytes))
               : -1;
      if (written < 0) {
        is_torn |= remaining.size() < line.size();
        return false;
      }
      remaining.remove_prefix(static_cast<size_t>(written));
    }
    is_torn = false;
    return true;
  };
  if (lost > 0 && write(notice(lost)))
    lost = 0;
  if (lost > 0 || !write(text))
    ++lost;
}

void write_line(const std::string& text) {
  write_line(text,
             [](size_t lost) { return concat("troupe: ", lost, " earlier lines were lost"); });
}

std::string to_json_line(const log_event& event) {
  nlohmann::ordered_json object{{"time", time_text(event.time)},
                                {"level", to_string(event.level)},
                                {"task", event.task},
                                {"event", event.event}};
  for (const auto& field : event.fields)
    std::visit([&](const auto& value) { object[field.name] = value; }, field.value);
  return printable_json(
      object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

} // namespace troupe::cli
