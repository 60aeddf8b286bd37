// Sets up actor systems.
#pragma once
#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <functional>

namespace troupe {

/// Configures an actor system with CAF's sharing scheduler, or with spinning_scheduler if the
/// system is networked. `threads` is as in count_threads(). An actor system that the application
/// brings keeps the application's configuration.
class system_config final : public caf::actor_system_config {
public:
  system_config(size_t threads, bool networked);
};

/// Returns the number of threads that an option stands for; 0: one per core.
size_t count_threads(size_t option);

/// Returns false for a system that the application has brought.
inline bool is_own_system(const caf::actor_system& system) {
  return dynamic_cast<const system_config*>(&system.config()) != nullptr;
}

/// Returns false for an actor of the application, and for what is no actor.
bool is_own_actor(caf::resumable& ready);

/// Returns false for a system whose scheduler runs actors only when a test tells it to.
bool has_threads(caf::actor_system& system);

/// Spawns an actor that must not wait behind kernels. It gets a thread of its own, if its system
/// has threads.
template <class Function, class... Args>
caf::actor spawn_control(caf::actor_system& system, Function behavior, Args&&... args) {
  if (has_threads(system))
    return system.spawn<caf::detached>(behavior, std::forward<Args>(args)...);
  return system.spawn(behavior, std::forward<Args>(args)...);
}

/// Runs `act` on a new thread, which the actor system waits for when it ends; or in an actor, if
/// the system has no threads. `act` must not throw. Returns false if the system cannot create a
/// thread. (CAF cannot report that: it counts a detached actor before it creates the actor's
/// thread, and would wait for it forever.)
bool run_on_new_thread(caf::actor_system& system, std::function<void()> act);

/// Converts an exception that an actor's handler has thrown.
caf::error exception_as_error(std::exception_ptr& thrown);
/// Ends the actor with an error that describes the exception when one of its handlers throws.
void end_on_exceptions(caf::scheduled_actor* self);

/// Returns the clock of a system, which must outlive the function. Tests use a virtual clock.
std::function<std::chrono::steady_clock::time_point()> clock_of(caf::actor_system& system);

} // namespace troupe
