#include "troupe/runtime/device/preferred_device.hpp"

#include <algorithm>
#include <vector>

namespace troupe {
namespace {

constexpr char mark = '?';

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    auto end = text.find('/', 1);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size()));
  }
  return parts;
}

bool is_marked(std::string_view part) { return part.ends_with(mark); }

// Returns whether the part belongs to a task's name. Keys may be in upper case.
bool names_task(std::string_view part) {
  std::string key;
  for (char letter : part.substr(0, part.find(':')))
    key += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return key == "/job" || key == "/task" || key == "/replica";
}

} // namespace

std::string preferred_device(std::string_view text) {
  std::string marked;
  for (auto part : parts_of(text))
    marked += is_marked(part) ? std::string{part} : concat(part, mark);
  auto name = device_name::parse(marked);
  if (!name)
    return std::string{text};
  if (name->job != "localhost" || name->task > 0)
    return marked;
  std::string without_task;
  for (auto part : parts_of(marked))
    if (!names_task(part))
      without_task += part;
  return without_task;
}

std::string plain_device(std::string_view text) {
  std::string plain;
  for (auto part : parts_of(text))
    plain += is_marked(part) ? part.substr(0, part.size() - 1) : part;
  return plain;
}

device_name required_device(std::string_view text) {
  std::string required;
  for (auto part : parts_of(text))
    if (!is_marked(part))
      required += part;
  auto name = device_name::parse(required);
  return name ? *name : device_name{};
}

std::string task_of_device(std::string_view text) {
  std::string task;
  for (auto part : parts_of(text))
    if (names_task(part))
      task += part;
  return task;
}

std::string device_in_scope(std::string device, const std::string& scope) {
  if (device.empty())
    return scope;
  auto parts = parts_of(device);
  if (std::ranges::none_of(parts, is_marked) || std::ranges::any_of(parts, names_task))
    return device;
  return task_of_device(scope) + device;
}

} // namespace troupe
