#include "troupe/api/cli/log_lines.hpp"

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
    write_line(json ? to_json_line(what) : to_line(what));
  };
}

void write_line(const std::string& text) {
  constexpr size_t at_once = 4096; // where there is any room, a pipe has room for so much
  static std::mutex mutex;
  static size_t lost = 0;
  std::lock_guard guard{mutex};
  auto write = [at_once](std::string_view rest) {
    while (!rest.empty()) {
      pollfd room{STDERR_FILENO, POLLOUT, 0};
      if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0)
        return false;
      auto written = ::write(STDERR_FILENO, rest.data(), std::min(rest.size(), at_once));
      if (written < 0)
        return false;
      rest.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  };
  if (lost > 0 && write(concat("troupe: ", lost, " lines before this one found no room\n")))
    lost = 0;
  lost += lost > 0 || !write(text + '\n');
}

std::string to_json_line(const log_event& what) {
  nlohmann::ordered_json made{{"time", time_text(what.time)},
                              {"level", to_string(what.level)},
                              {"task", what.task},
                              {"event", what.event}};
  for (const auto& one : what.fields)
    std::visit([&](const auto& value) { made[one.name] = value; }, one.value);
  return made.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace troupe::cli
