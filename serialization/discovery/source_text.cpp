#include "troupe/serialization/discovery/source_text.hpp"

#include "troupe/serialization/config/address_text.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number found{};
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (problem != std::errc{} || end != text.data() + text.size())
    return {};
  return found;
}

} // namespace

std::string source_text::option(std::string_view name, std::string otherwise) const {
  auto it = std::ranges::find(options, name, [](const auto& one) { return one.first; });
  return it == options.end() ? otherwise : it->second;
}

result<source_text> parse_source_text(std::string_view text, std::string_view origin,
                                      std::vector<std::string_view> known) {
  source_text made;
  size_t all = 0;
  while (!text.empty()) {
    auto comma = text.find(',');
    auto word = text.substr(0, comma);
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    auto equals = word.find('=');
    auto name = word.substr(0, equals);
    auto value = equals == word.npos ? std::string_view{} : word.substr(equals + 1);
    if (std::ranges::find(known, name) != known.end() && equals != word.npos) {
      if (!made.option(name).empty())
        return invalid(origin, " '", name, "' stands twice");
      if (value.empty())
        return invalid(origin, " '", name, "=' wants a value");
      made.options.emplace_back(name, value);
      continue;
    }
    job_text job;
    auto star = name.find('*');
    job.job = name.substr(0, star);
    job.pattern = value;
    if (!is_job_name(job.job))
      return invalid(origin, " '", word, "' is neither a job, such as worker*4, nor an option");
    if (std::ranges::find(made.jobs, job.job, &job_text::job) != made.jobs.end())
      return invalid(origin, " the job '", job.job, "' stands twice");
    if (star != name.npos) {
      job.tasks = number<int>(name.substr(star + 1));
      if (!job.tasks || *job.tasks < 1 ||
          static_cast<size_t>(*job.tasks) > max_tasks_of_source - all)
        return invalid(origin, " '", name, "' has no number of tasks; write ", job.job,
                       "*4 for four, at most ", max_tasks_of_source, " in all");
      all += static_cast<size_t>(*job.tasks);
    }
    made.jobs.push_back(std::move(job));
  }
  return made;
}

result<std::string> expand_address(const std::string& pattern, int index) {
  constexpr std::string_view hole = "{index}";
  auto at = pattern.find(hole);
  if (at == pattern.npos || pattern.find(hole, at + 1) != pattern.npos)
    return invalid("'", pattern, "' must have {index} once, as in worker-{index}.train:7000");
  auto made = pattern;
  made.replace(at, hole.size(), std::to_string(index));
  if (!is_address(made))
    return invalid("'", pattern,
                   "' is no pattern of addresses; write one such as "
                   "worker-{index}.train:7000");
  return made;
}

result<int> parse_port(std::string_view text, std::string_view origin) {
  auto found = number<int>(text);
  if (!found || *found < 1 || *found > 65'535)
    return invalid(origin, " the port must be from 1 to 65535, got '", text, "'");
  return *found;
}

} // namespace troupe
