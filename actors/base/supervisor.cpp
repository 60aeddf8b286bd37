#include "troupe/actors/base/supervisor.hpp"

#include "troupe/actors/base/errors.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <memory>

namespace troupe {
namespace {

using on_failure_ptr = std::shared_ptr<std::function<void(const status&)>>;

caf::behavior supervisor_behavior(caf::event_based_actor* self,
                                  const std::map<std::string, caf::actor>& watched,
                                  const on_failure_ptr& on_failure) {
  std::map<caf::actor_addr, std::string> names;
  for (const auto& [name, actor] : watched) {
    self->monitor(actor);
    names[actor.address()] = name;
  }
  self->set_default_handler(caf::drop);
  self->set_down_handler([=](const caf::down_msg& down) {
    if (down.reason == caf::exit_reason::user_shutdown)
      return;
    auto why = from_caf(down.reason);
    if (auto call = std::exchange(*on_failure, nullptr))
      call(failure(error_kind::internal, names.at(down.source),
                   " has ended: ", why.ok() ? "without an error" : why.message()));
    self->quit();
  });
  // This behavior keeps the supervisor alive while its owner holds a handle.
  return {[](const status&) {}};
}

} // namespace

caf::actor spawn_supervisor(caf::actor_system& system,
                            const std::map<std::string, caf::actor>& watched,
                            std::function<void(const status&)> on_failure) {
  return system.spawn(supervisor_behavior, watched,
                      std::make_shared<std::function<void(const status&)>>(std::move(on_failure)));
}

} // namespace troupe
