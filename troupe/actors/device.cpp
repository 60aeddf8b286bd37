#include "troupe/actors/device.hpp"

#include "troupe/actors/messages.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace troupe {
namespace {

caf::behavior device_behavior(caf::event_based_actor* self, const std::shared_ptr<device>& owned,
                              const device_name& name) {
  self->set_default_handler(caf::drop);
  return {
      [=](list_devices_atom) {
        return std::vector<device_info>{{.name = to_string(name),
                                         .kind = std::string{to_string(owned->kind())},
                                         .memory_bytes = owned->memory_limit(),
                                         .description = owned->description()}};
      },
  };
}

} // namespace

caf::actor spawn_device(caf::actor_system& system, std::shared_ptr<device> owned,
                        device_name name) {
  return system.spawn(device_behavior, std::move(owned), std::move(name));
}

} // namespace troupe
