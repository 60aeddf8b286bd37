// The syntax of addresses and of names of jobs.
#pragma once
#include <string_view>

namespace troupe {

/// Accepts "host:port" and "[::1]:port".
bool is_address(std::string_view text);
/// Accepts a letter, followed by letters, digits, _ and -.
bool is_job_name(std::string_view name);

} // namespace troupe
