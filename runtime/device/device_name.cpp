#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <sstream>

namespace troupe {
namespace {

result<int> parse_number(std::string_view digits, std::string_view text) {
  int value = -1;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc{} || end != digits.data() + digits.size() || value < 0)
    return invalid("device '", text, "': '", digits, "' is no number");
  return value;
}

std::string to_lower(std::string_view text) {
  std::string lowered{text};
  for (auto& letter : lowered)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  return lowered;
}

} // namespace

std::string to_string(const task_name& task) {
  return concat("/job:", task.job, "/task:", task.task);
}

std::ostream& operator<<(std::ostream& out, const task_name& task) {
  return out << to_string(task);
}

result<device_name> device_name::parse(std::string_view text) {
  device_name name;
  auto unread = text;
  while (!unread.empty()) {
    if (unread.front() != '/')
      return invalid("device '", text, "' must consist of parts such as /job:ps, /task:0, /cpu:0");
    unread.remove_prefix(1);
    auto part = unread.substr(0, unread.find('/'));
    unread.remove_prefix(part.size());
    auto is_preferred = part.ends_with('?'); // see preferred_device.hpp
    if (is_preferred)
      part.remove_suffix(1);
    auto colon = part.find(':');
    if (colon == part.npos)
      return invalid("device '", text, "': '/", part, "' lacks a ':'");
    auto key = to_lower(part.substr(0, colon));
    auto value = part.substr(colon + 1);
    if (key == "device") {
      auto second = value.find(':');
      if (second == value.npos)
        return invalid("device '", text, "': write /device:cpu:0");
      key = to_lower(value.substr(0, second));
      value.remove_prefix(second + 1);
      if (is_preferred && key != "cpu" && key != "gpu")
        continue; // a device kind of another system: any device is acceptable
      if (key != "cpu" && key != "gpu")
        return invalid("device '", text, "': there is no kind of device '", key,
                       "', only cpu and gpu");
    }
    if (key == "job") {
      if (value.empty())
        return invalid("device '", text, "': the job has no name");
      name.job = value;
    } else if (key == "task") {
      TROUPE_ASSIGN(name.task, parse_number(value, text));
    } else if (key == "replica") {
      TROUPE_ASSIGN(auto replica, parse_number(value, text));
      if (replica != 0)
        return invalid("device '", text, "': there is only replica 0");
    } else if (key == "cpu" || key == "gpu") {
      name.kind = key;
      if (value != "*") {
        TROUPE_ASSIGN(name.ordinal, parse_number(value, text));
      }
    } else {
      return invalid("device '", text, "': the part '/", part,
                     "' is unknown; parts are /job:, /task:, /device:, /cpu:, /gpu:");
    }
  }
  return name;
}

bool device_name::matches(const device_name& complete) const noexcept {
  return (job.empty() || job == complete.job) && (task < 0 || task == complete.task) &&
         (kind.empty() || kind == complete.kind) && (ordinal < 0 || ordinal == complete.ordinal);
}

std::string to_string(const device_name& name) {
  std::ostringstream out;
  if (!name.job.empty())
    out << "/job:" << name.job;
  if (name.task >= 0)
    out << "/task:" << name.task;
  if (!name.kind.empty())
    out << "/device:" << name.kind << ':'
        << (name.ordinal < 0 ? "*" : std::to_string(name.ordinal));
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, const device_name& name) {
  return out << to_string(name);
}

result<device_name> merge(const device_name& a, const device_name& b) {
  auto conflict = [&] { return invalid("devices '", a, "' and '", b, "' contradict each other"); };
  auto joint = a;
  if (joint.job.empty())
    joint.job = b.job;
  else if (!b.job.empty() && b.job != joint.job)
    return conflict();
  if (joint.kind.empty())
    joint.kind = b.kind;
  else if (!b.kind.empty() && b.kind != joint.kind)
    return conflict();
  if ((a.task >= 0 && b.task >= 0 && a.task != b.task) ||
      (a.ordinal >= 0 && b.ordinal >= 0 && a.ordinal != b.ordinal))
    return conflict();
  joint.task = std::max(a.task, b.task);
  joint.ordinal = std::max(a.ordinal, b.ordinal);
  return joint;
}

} // namespace troupe
