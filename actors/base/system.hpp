// How we set up an actor system of our own.
#pragma once
#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <chrono>
#include <cstddef>
#include <functional>

namespace troupe {

/// The sharing scheduler with an explicit number of threads; the looking one where there is a
/// network. A host's own system is taken as it is.
class system_config final : public caf::actor_system_config {
public:
  system_config(size_t threads, bool networked);
};

/// So many threads as an option says, where 0 stands for one per core.
size_t count_threads(size_t option);

/// False in a system whose scheduler runs actors only when a test says so.
bool has_threads(caf::actor_system& system);

/// Spawns an actor that must not wait behind kernels: it gets a thread of its own, where its system
/// has threads.
template <class Function, class... Args>
caf::actor spawn_control(caf::actor_system& system, Function behavior, Args&&... args) {
  if (has_threads(system))
    return system.spawn<caf::detached>(behavior, std::forward<Args>(args)...);
  return system.spawn(behavior, std::forward<Args>(args)...);
}

/// Has it done on a thread of its own, which the actor system waits for when it ends; where that
/// has no threads, by an actor. `act` throws nothing. False: there is no thread to be had. (CAF
/// counts an actor before it makes the thread for it, and would wait for it for ever.)
bool run_on_a_thread(caf::actor_system& system, std::function<void()> act);

/// What an actor's handler has thrown.
caf::error exception_as_error(std::exception_ptr& what);
/// Has what an actor's handlers throw end it with an error that says what it was.
void end_with_exceptions(caf::scheduled_actor* self);

/// The time of a system, which must outlive the function. Tests have a time of their own.
std::function<std::chrono::steady_clock::time_point()> clock_of(caf::actor_system& system);

} // namespace troupe
