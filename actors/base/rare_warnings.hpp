// Limits the rate of warnings that a stranger can cause at will.
#pragma once
#include <functional>
#include <string>

namespace troupe {

/// Returns a function that passes at most one text per second to `to`. The next text says how many
/// were left out. Any thread may call it. Returns an empty function if `to` is empty.
std::function<void(const std::string&)>
limit_to_one_per_second(std::function<void(const std::string&)> to);

} // namespace troupe
