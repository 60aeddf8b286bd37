// Limits the rate of warnings that a peer can cause without proving its identity.
#pragma once
#include <functional>
#include <string>

namespace troupe {

/// Returns a function that passes at most one text per second to `to` and drops the others. The
/// next text that it passes says how many were dropped. Any thread may call it. Returns an empty
/// function if `to` is empty.
std::function<void(const std::string&)>
limit_to_one_per_second(std::function<void(const std::string&)> to);

} // namespace troupe
