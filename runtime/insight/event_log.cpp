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

// Quotes a text that is more than a word, so that each event stays on one line.
void append_text(const std::string& text, std::string& to) {
  if (is_word(text)) {
    to += text;
    return;
  }
  to += in_quotes(text);
}

// Replaces a number in a text where no other digits adjoin it.
void leave_out_number(std::string& text, const std::string& number) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (auto begin = text.find(number); begin != text.npos; begin = text.find(number, begin + 1)) {
    auto end = begin + number.size();
    if ((begin == 0 || !is_digit(text[begin - 1])) && (end == text.size() || !is_digit(text[end])))
      text.replace(begin, number.size(), "#");
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

std::string to_line(const log_event& event) {
  auto line = concat(time_text(event.time), ' ', to_string(event.level), ' ', printable(event.task),
                     ' ', event.event);
  for (const auto& field : event.fields) {
    ((line += ' ') += field.name) += '=';
    if (auto* text = std::get_if<std::string>(&field.value))
      append_text(*text, line);
    else if (auto* flag = std::get_if<bool>(&field.value))
      line += *flag ? "true" : "false";
    else if (auto* integer = std::get_if<int64_t>(&field.value))
      line += std::to_string(*integer);
    else
      line += concat(std::get<double>(field.value));
  }
  return line;
}

void event_log::set_task(std::string task) {
  std::lock_guard guard{mutex_};
  task_ = std::move(task);
}

void event_log::write(log_level level, std::string_view event, std::vector<property> fields) {
  emit(level, event, std::move(fields), std::chrono::system_clock::now());
}

void event_log::emit(log_level level, std::string_view event, std::vector<property> fields,
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
    auto entry = rates_.find(event);
    if (entry == rates_.end())
      entry = rates_.emplace(event, rate{}).first;
    auto& recent = entry->second;
    if (now - recent.second >= std::chrono::seconds{1}) {
      recent.second = now;
      recent.emitted = 0;
    }
    if (recent.emitted >= max_per_second) {
      ++recent.suppressed;
      return;
    }
    ++recent.emitted;
    if (auto count = std::exchange(recent.suppressed, 0); count > 0)
      fields.push_back({"suppressed", count});
    ++calls_;
  }
  try {
    hook_({level, time, std::move(task), event, std::move(fields)});
  } catch (const std::exception&) { // an error of the host program
  }
  std::lock_guard guard{mutex_};
  if (--calls_ == 0 && closing_)
    changed_.notify_all();
}

event_log::~event_log() { close(); }

void event_log::close() {
  {
    std::lock_guard guard{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  if (flusher_.joinable())
    flusher_.join();
  std::unique_lock lock{mutex_};
  closed_ = true;
  changed_.wait(lock, [&] { return calls_ == 0; });
}

event_log::clock::time_point event_log::group::due() const {
  return std::min(latest + group_idle_time, begun + max_group_age);
}

void event_log::write_step(log_level level, const event_names& event, int64_t step,
                           std::vector<property> fields) {
  if (!hook_ || add_to_group(level, event, step, fields))
    return;
  fields.insert(fields.begin(), property{"step", step});
  write(level, event.singular, std::move(fields));
}

bool event_log::add_to_group(log_level level, const event_names& event, int64_t step,
                             const std::vector<property>& fields) {
  auto compared = fields;
  for (auto& field : compared)
    if (auto* text = std::get_if<std::string>(&field.value))
      leave_out_number(*text, std::to_string(step));
  auto now = clock::now();
  std::lock_guard guard{mutex_};
  auto same_group = std::ranges::find_if(groups_, [&](const group& candidate) {
    return candidate.level == level && candidate.event.singular == event.singular &&
           candidate.compared == compared;
  });
  if (same_group != groups_.end()) {
    same_group->latest = now;
    ++same_group->count;
    same_group->first = std::min(same_group->first, step);
    same_group->last = std::max(same_group->last, step);
    return true;
  }
  if (groups_.size() == max_groups || closing_)
    return false;
  try {
    if (!flusher_.joinable())
      flusher_ = std::thread{[this] { emit_groups(); }};
  } catch (const std::system_error&) { // no thread could be started
    return false;
  }
  groups_.push_back({level, event, fields, std::move(compared), std::chrono::system_clock::now(),
                     now, now, 1, step, step});
  changed_.notify_all();
  return true;
}

void event_log::emit(group&& steps) {
  auto& fields = steps.fields;
  if (steps.count == 1)
    fields.insert(fields.begin(), property{"step", steps.first});
  else
    fields.insert(fields.begin(), {property{"count", steps.count}, property{"first", steps.first},
                                   property{"last", steps.last}});
  emit(steps.level, steps.count == 1 ? steps.event.singular : steps.event.plural, std::move(fields),
       steps.time);
}

void event_log::emit_groups() {
  std::unique_lock lock{mutex_};
  while (!closing_ || !groups_.empty()) {
    if (groups_.empty()) {
      changed_.wait(lock, [&] { return closing_ || !groups_.empty(); });
      continue;
    }
    auto next = std::ranges::min_element(groups_, {}, &group::due);
    if (!closing_ && clock::now() < next->due()) {
      changed_.wait_until(lock, next->due());
      continue;
    }
    auto due_group = std::move(*next);
    groups_.erase(next);
    lock.unlock();
    emit(std::move(due_group));
    lock.lock();
  }
}

} // namespace troupe
