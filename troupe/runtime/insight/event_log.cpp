#include "troupe/runtime/insight/event_log.hpp"

#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>

namespace troupe {
namespace {

bool is_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"/:._-+@,[]"}.find(c) != std::string_view::npos;
  });
}

// In quotes where it is more than a word; one line, whatever it holds.
void append_text(const std::string& text, std::string& to) {
  if (is_word(text)) {
    to += text;
    return;
  }
  to += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      (to += '\\') += c;
    else if (c == '\n')
      to += "\\n";
    else
      to += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  to += '"';
}

} // namespace

std::string time_text(std::chrono::system_clock::time_point at) {
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
  auto seconds = static_cast<time_t>(ms / 1000);
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  auto size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%03dZ", static_cast<int>(ms % 1000));
  return text;
}

std::string_view to_string(log_level level) noexcept {
  switch (level) {
    case log_level::debug: return "debug";
    case log_level::info: return "info";
    case log_level::warning: return "warning";
    default: return "error";
  }
}

std::string to_line(const log_event& what) {
  auto line =
      concat(time_text(what.time), ' ', to_string(what.level), ' ', what.task, ' ', what.event);
  for (const auto& one : what.fields) {
    ((line += ' ') += one.name) += '=';
    if (auto* text = std::get_if<std::string>(&one.value))
      append_text(*text, line);
    else if (auto* flag = std::get_if<bool>(&one.value))
      line += *flag ? "true" : "false";
    else if (auto* whole = std::get_if<int64_t>(&one.value))
      line += std::to_string(*whole);
    else
      line += concat(std::get<double>(one.value));
  }
  return line;
}

void event_log::rename(std::string task) {
  std::lock_guard guard{mutex_};
  task_ = std::move(task);
}

void event_log::write(log_level level, std::string_view event, std::vector<property> fields) {
  if (!hook_)
    return;
  auto now = std::chrono::steady_clock::now();
  std::string task;
  {
    std::lock_guard guard{mutex_};
    task = task_;
    auto it = rates_.find(event);
    if (it == rates_.end())
      it = rates_.emplace(event, rate{}).first;
    auto& known = it->second;
    if (now - known.second >= std::chrono::seconds{1}) {
      known.second = now;
      known.told = 0;
    }
    if (known.told >= most_per_second) {
      ++known.suppressed;
      return;
    }
    ++known.told;
    if (auto count = std::exchange(known.suppressed, 0); count > 0)
      fields.push_back({"suppressed", count});
  }
  try {
    hook_({level, std::chrono::system_clock::now(), std::move(task), event, std::move(fields)});
  } catch (const std::exception&) { // the host's own trouble
  }
}

} // namespace troupe
