#include "troupe/actors/base/clerk.hpp"

#include "troupe/actors/base/system.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace troupe {
namespace {

caf::behavior clerk_behavior(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[](const job& request) {
    request.work();
    return job_done{};
  }};
}

} // namespace

caf::actor spawn_clerk(caf::actor_system& system) { return spawn_control(system, clerk_behavior); }

} // namespace troupe
