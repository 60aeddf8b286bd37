// Warnings that strangers could cause as often as they like.
#pragma once
#include <functional>
#include <string>

namespace troupe {

/// Passes on at most one text in a second; the next one says how many were left out. Any thread may
/// call what is returned; nothing where `to` is nothing.
std::function<void(const std::string&)>
at_most_one_in_a_second(std::function<void(const std::string&)> to);

} // namespace troupe
