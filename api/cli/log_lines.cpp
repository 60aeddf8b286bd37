#include "troupe/api/cli/log_lines.hpp"

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

log_hook log_to_stderr(const std::string& form, const std::string& least_level) {
  if (form == "none")
    return {};
  return [json = form == "json", least = level_of(least_level)](const log_event& what) {
    if (what.level < least)
      return;
    auto line_of = [json](const log_event& one) { return json ? to_json_line(one) : to_line(one); };
    write_line(line_of(what), [&](size_t lost) {
      return line_of({std::max(log_level::warning, least),
                      what.time,
                      what.task,
                      "lines_lost",
                      {{"count", static_cast<int64_t>(lost)}}});
    });
  };
}

void write_line(const std::string& text, const lost_notice& notice) {
  constexpr size_t at_once = 4096; // where there is any room, a pipe has room for so much
  static std::mutex mutex;
  static size_t lost = 0;
  static bool is_torn = false;
  std::lock_guard guard{mutex};
  auto write = [at_once](std::string line) {
    line.insert(0, is_torn ? "\n" : "").push_back('\n');
    for (std::string_view rest = line; !rest.empty();) {
      pollfd room{STDERR_FILENO, POLLOUT, 0};
      auto fits = ::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0;
      auto written =
          fits ? ::write(STDERR_FILENO, rest.data(), std::min(rest.size(), at_once)) : -1;
      if (written < 0) {
        is_torn |= rest.size() < line.size();
        return false;
      }
      rest.remove_prefix(static_cast<size_t>(written));
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
  write_line(text, [](size_t lost) {
    return concat("troupe: ", lost, " lines before this one found no room");
  });
}

std::string to_json_line(const log_event& what) {
  nlohmann::ordered_json made{{"time", time_text(what.time)},
                              {"level", to_string(what.level)},
                              {"task", what.task},
                              {"event", what.event}};
  for (const auto& one : what.fields)
    std::visit([&](const auto& value) { made[one.name] = value; }, one.value);
  return printable_json(
      made.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

} // namespace troupe::cli
