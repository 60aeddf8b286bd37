// The rules of the trace-event format whose violation confuses viewers.
#pragma once
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// Returns the first rule that a trace breaks, or nothing: each event has the fields of its phase;
/// on each thread slices are ordered by their begin, and nest; an event that begins with an id ends
/// once, later; both ends of an arrow lie within slices, the head not before the tail; processes
/// and threads have names.
std::string broken_rule(const nlohmann::json& trace);

/// The slices of that name, in the trace's order.
std::vector<nlohmann::json> slices(const nlohmann::json& trace, std::string_view name);

} // namespace troupe::test
