#include "troupe/api/cli/log_lines.hpp"

#include <nlohmann/json.hpp>

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
    auto line = (json ? to_json_line(what) : to_line(what)) + '\n';
    // In one write, so that lines of several threads stay whole; a reader that is gone loses them.
    [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
  };
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
