// What the members of a collective group must have in common, wherever they lie.
#pragma once
#include "troupe/runtime/device/collective_call.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <span>

namespace troupe {

/// A node of a group, and the device that it was put on.
struct placed_member {
  const node* origin = nullptr;
  device_name where = {};
};

/// What the node computes together with others, but for the shape and who sends.
collective_call call_of(const node& member);

/// Whether the member of a broadcast sends.
bool is_sender(const node& member);

/// Fails, and names two members that differ, where they compute different things or are on devices
/// of two kinds; and where some are missing or too many.
status check_members(std::span<const placed_member> all);

} // namespace troupe
