#include "troupe/runtime/insight/event_log.hpp"

#include "troupe/runtime/types/printable.hpp"
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <system_error>

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
  to += in_quotes(text);
}

// Replaces a number where it stands alone in a text.
void leave_out_number(std::string& text, const std::string& number) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (auto at = text.find(number); at != text.npos; at = text.find(number, at + 1)) {
    auto end = at + number.size();
    if ((at == 0 || !is_digit(text[at - 1])) && (end == text.size() || !is_digit(text[end])))
      text.replace(at, number.size(), "#");
  }
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
  auto line = concat(time_text(what.time), ' ', to_string(what.level), ' ', printable(what.task),
                     ' ', what.event);
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
  tell(level, event, std::move(fields), std::chrono::system_clock::now());
}

void event_log::tell(log_level level, std::string_view event, std::vector<property> fields,
                     std::chrono::system_clock::time_point time) {
  if (!hook_)
    return;
  auto now = clock::now();
  std::string task;
  {
    std::lock_guard guard{mutex_};
    if (closed_)
      return;
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
    ++calls_;
  }
  try {
    hook_({level, time, std::move(task), event, std::move(fields)});
  } catch (const std::exception&) { // the host's own trouble
  }
  std::lock_guard guard{mutex_};
  if (--calls_ == 0 && ends_)
    changed_.notify_all();
}

event_log::~event_log() { close(); }

void event_log::close() {
  {
    std::lock_guard guard{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  if (flusher_.joinable())
    flusher_.join();
  std::unique_lock lock{mutex_};
  closed_ = true;
  changed_.wait(lock, [&] { return calls_ == 0; });
}

event_log::clock::time_point event_log::group::due() const {
  return std::min(latest + pause_of_group, begun + age_of_group);
}

void event_log::write_step(log_level level, const event_names& event, int64_t step,
                           std::vector<property> fields) {
  if (!hook_ || gather(level, event, step, fields))
    return;
  fields.insert(fields.begin(), property{"step", step});
  write(level, event.singular, std::move(fields));
}

bool event_log::gather(log_level level, const event_names& event, int64_t step,
                       const std::vector<property>& fields) {
  auto compared = fields;
  for (auto& each : compared)
    if (auto* text = std::get_if<std::string>(&each.value))
      leave_out_number(*text, std::to_string(step));
  auto now = clock::now();
  std::lock_guard guard{mutex_};
  auto known = std::ranges::find_if(groups_, [&](const group& each) {
    return each.level == level && each.event.singular == event.singular &&
           each.compared == compared;
  });
  if (known != groups_.end()) {
    known->latest = now;
    ++known->count;
    known->first = std::min(known->first, step);
    known->last = std::max(known->last, step);
    return true;
  }
  if (groups_.size() == most_groups || ends_)
    return false;
  try {
    if (!flusher_.joinable())
      flusher_ = std::thread{[this] { tell_groups(); }};
  } catch (const std::system_error&) { // there is no thread
    return false;
  }
  groups_.push_back({level, event, fields, std::move(compared), std::chrono::system_clock::now(),
                     now, now, 1, step, step});
  changed_.notify_all();
  return true;
}

void event_log::tell(group&& of) {
  auto& fields = of.fields;
  if (of.count == 1)
    fields.insert(fields.begin(), property{"step", of.first});
  else
    fields.insert(fields.begin(), {property{"count", of.count}, property{"first", of.first},
                                   property{"last", of.last}});
  tell(of.level, of.count == 1 ? of.event.singular : of.event.plural, std::move(fields), of.time);
}

void event_log::tell_groups() {
  std::unique_lock lock{mutex_};
  while (!ends_ || !groups_.empty()) {
    if (groups_.empty()) {
      changed_.wait(lock, [&] { return ends_ || !groups_.empty(); });
      continue;
    }
    auto next = std::ranges::min_element(groups_, {}, &group::due);
    if (!ends_ && clock::now() < next->due()) {
      changed_.wait_until(lock, next->due());
      continue;
    }
    auto over = std::move(*next);
    groups_.erase(next);
    lock.unlock();
    tell(std::move(over));
    lock.lock();
  }
}

} // namespace troupe
