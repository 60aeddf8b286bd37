#include "troupe/serialization/discovery/source_text.hpp"

#include "troupe/serialization/config/address_text.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size())
    return {};
  return number;
}

} // namespace

std::string source_text::option(std::string_view name, std::string default_value) const {
  auto entry = std::ranges::find(options, name, [](const auto& option) { return option.first; });
  return entry == options.end() ? default_value : entry->second;
}

result<source_text> parse_source_text(std::string_view text, std::string_view origin,
                                      std::vector<std::string_view> option_names) {
  source_text parsed;
  size_t task_count = 0;
  while (!text.empty()) {
    auto comma = text.find(',');
    auto word = text.substr(0, comma);
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    auto equals = word.find('=');
    auto name = word.substr(0, equals);
    auto value = equals == word.npos ? std::string_view{} : word.substr(equals + 1);
    if (std::ranges::find(option_names, name) != option_names.end() && equals != word.npos) {
      if (!parsed.option(name).empty())
        return invalid(origin, " '", name, "' is given twice");
      if (value.empty())
        return invalid(origin, " '", name, "=' needs a value");
      parsed.options.emplace_back(name, value);
      continue;
    }
    job_text job;
    auto star = name.find('*');
    job.job = name.substr(0, star);
    job.pattern = value;
    if (!is_job_name(job.job))
      return invalid(origin, " '", word, "' is neither a job, such as worker*4, nor an option");
    if (std::ranges::find(parsed.jobs, job.job, &job_text::job) != parsed.jobs.end())
      return invalid(origin, " the job '", job.job, "' is listed twice");
    if (star != name.npos) {
      job.tasks = parse_number<int>(name.substr(star + 1));
      if (!job.tasks || *job.tasks < 1 ||
          static_cast<size_t>(*job.tasks) > max_tasks_of_source - task_count)
        return invalid(origin, " '", name, "' has no number of tasks; write ", job.job,
                       "*4 for four, at most ", max_tasks_of_source, " in all");
      task_count += static_cast<size_t>(*job.tasks);
    }
    parsed.jobs.push_back(std::move(job));
  }
  return parsed;
}

result<std::string> expand_address(const std::string& pattern, int index) {
  constexpr std::string_view placeholder = "{index}";
  auto offset = pattern.find(placeholder);
  if (offset == pattern.npos || pattern.find(placeholder, offset + 1) != pattern.npos)
    return invalid("'", pattern, "' must have {index} once, as in worker-{index}.train:7000");
  auto address = pattern;
  address.replace(offset, placeholder.size(), std::to_string(index));
  if (!is_address(address))
    return invalid("'", pattern,
                   "' is not a pattern of addresses; write one such as "
                   "worker-{index}.train:7000");
  return address;
}

result<int> parse_port(std::string_view text, std::string_view origin) {
  auto port = parse_number<int>(text);
  if (!port || *port < 1 || *port > 65'535)
    return invalid(origin, " the port must be from 1 to 65535, got '", text, "'");
  return *port;
}

} // namespace troupe
