// What addresses and names of jobs look like.
#pragma once
#include <string_view>

namespace troupe {

/// "host:port" or "[::1]:port".
bool is_address(std::string_view text);
/// Letters, digits, _ and - after a letter.
bool is_job_name(std::string_view name);

} // namespace troupe
