// The texts that say where addresses come from, as lists of words.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Tasks that one text may stand for.
inline constexpr size_t max_tasks_of_source = 65'536;

/// A job in such a text: "worker*4=worker-{index}.train:7000", "ps*2", "worker".
struct job_text {
  std::string job;
  std::optional<int> tasks;
  std::string pattern; ///< of addresses; empty where there is none
};

/// "ps*2,worker,port=7000": jobs, and options whose names are in `options`.
struct source_text {
  std::vector<job_text> jobs;
  std::vector<std::pair<std::string, std::string>> options;
  std::string option(std::string_view name, std::string otherwise = {}) const;
};

/// `origin` begins errors: "dns:".
result<source_text> parse_source_text(std::string_view text, std::string_view origin,
                                      std::vector<std::string_view> options);

/// The pattern with the number in the place of "{index}", which must stand there once.
result<std::string> expand_address(const std::string& pattern, int index);

/// A port as a number, from 1 to 65535.
result<int> parse_port(std::string_view text, std::string_view origin);

} // namespace troupe
