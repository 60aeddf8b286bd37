// Converts a prepare request between a client and the task that hosts its session.
#pragma once
#include "troupe/actors/base/session_messages.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/wire/hosted_session.hpp"

namespace troupe {

/// Fails for more than 65,536 feeds. `measured`, if given, has the costs of nodes.
result<session_prepare> to_wire(const prepare_request& request, const node_times* measured);
/// Returns for each feed of the signature whether the graph needs it.
std::vector<bool> needed_feeds(const prepare_request& request);
/// Validates the message: fails for a graph that extract() cannot have produced.
result<prepare_request> from_wire(const session_prepare& received, const registry& ops,
                                  step_clock::time_point deadline);

/// Returns the bytes that are charged to the client while its step is prepared.
uint64_t held_bytes(const session_prepare& received);

} // namespace troupe
