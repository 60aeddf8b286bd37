// Checks that the members of a collective group agree, on whichever devices they are.
#pragma once
#include "troupe/runtime/device/collective_call.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <span>

namespace troupe {

/// A member of a group and its device.
struct placed_member {
  const node* origin = nullptr;
  device_name location = {};
};

/// Returns the collective that the node takes part in, without the shape and the root.
collective_call collective_of(const node& member);

/// Returns whether the member of a broadcast sends.
bool is_sender(const node& member);

/// Checks the members of a group. Fails with the descriptions of two members if they compute
/// different collectives or are on devices of different kinds. Also fails if members are missing or
/// too many.
status check_members(std::span<const placed_member> members);

} // namespace troupe
