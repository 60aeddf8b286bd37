// The rules of the trace-event format, as far as viewers stumble over what breaks them.
#pragma once
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// Returns the first rule that a trace breaks, or nothing: each event has what its phase demands;
/// on each thread slices come in the order of their beginnings and nest; what begins with an id
/// ends once, later; an arrow's two ends lie within slices, its head not before its tail; processes
/// and threads have names.
std::string broken_rule(const nlohmann::json& trace);

/// The slices of that name, in the trace's order.
std::vector<nlohmann::json> slices(const nlohmann::json& trace, std::string_view name);

} // namespace troupe::test
