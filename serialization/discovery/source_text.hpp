// Parses the texts that describe sources of addresses.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The maximum of tasks in one text.
inline constexpr size_t max_tasks_of_source = 65'536;

/// A job in such a text: "worker*4=worker-{index}.train:7000", "ps*2", "worker".
struct job_text {
  std::string job;
  std::optional<int> tasks;
  std::string pattern; ///< of addresses; may be empty
};

/// A text such as "ps*2,worker,port=7000": jobs and options.
struct source_text {
  std::vector<job_text> jobs;
  std::vector<std::pair<std::string, std::string>> options;
  std::string option(std::string_view name, std::string default_value = {}) const;
};

/// `origin` is a prefix of errors: "dns:". Words named in `option_names` are options, others jobs.
result<source_text> parse_source_text(std::string_view text, std::string_view origin,
                                      std::vector<std::string_view> option_names);

/// Replaces "{index}", which must occur once in the pattern, by the number.
result<std::string> expand_address(const std::string& pattern, int index);

/// Parses a port, from 1 to 65535.
result<int> parse_port(std::string_view text, std::string_view origin);

} // namespace troupe
