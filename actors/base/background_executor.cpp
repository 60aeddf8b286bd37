#include "troupe/actors/base/background_executor.hpp"

#include "troupe/actors/base/system.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace troupe {
namespace {

caf::behavior background_executor_behavior(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[](const job& request) {
    request.work();
    return job_done{};
  }};
}

} // namespace

caf::actor spawn_background_executor(caf::actor_system& system) {
  return spawn_control(system, background_executor_behavior);
}

} // namespace troupe
