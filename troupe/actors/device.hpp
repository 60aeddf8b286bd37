// The actor of one device.
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <caf/actor.hpp>

#include <memory>

namespace troupe {

/// Understands list_devices_atom. A CPU's kernels run on the thread that brings the work, so its
/// actor is off the path of a step.
caf::actor spawn_device(caf::actor_system& system, std::shared_ptr<device> owned, device_name name);

} // namespace troupe
