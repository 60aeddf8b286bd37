// A kind of step on its way from a client to the task that hosts its session.
#pragma once
#include "troupe/actors/base/session_messages.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/wire/hosted_session.hpp"

namespace troupe {

/// `measured`, if given, says what nodes cost.
result<session_prepare> to_wire(const prepare_request& what, const node_times* measured);
/// Of the signature's feeds, those that the graph needs.
std::vector<bool> needed_feeds(const prepare_request& what);
/// Takes nothing of it for granted: fails for whatever extract() cannot have made.
result<prepare_request> from_wire(const session_prepare& what, const registry& ops,
                                  step_clock::time_point deadline);

/// The bytes that count as the client's while its step is prepared.
uint64_t held_bytes(const session_prepare& what);

} // namespace troupe
