#include "troupe/actors/base/system.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/spinning_scheduler.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <caf/atom.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduled_actor.hpp>

#include <algorithm>
#include <exception>
#include <string_view>
#include <thread>

#include <pthread.h>

namespace troupe {

system_config::system_config(size_t threads, bool networked) {
  threads = count_threads(threads);
  // Work stealing runs fan-outs serially for up to 10 ms and burns idle CPU; sharing does neither.
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
  set("scheduler.max-throughput", size_t{30});
  if (networked)
    load<spinning_scheduler>();
}

size_t count_threads(size_t option) {
  return option > 0 ? option : std::max(1u, std::thread::hardware_concurrency());
}

bool has_threads(caf::actor_system& system) {
  constexpr auto testing = caf::atom("testing");
  return caf::get_or(system.config(), "scheduler.policy", caf::atom("")) != testing;
}

bool is_own_actor(caf::resumable& ready) {
  constexpr std::string_view prefix = "troupe.";
  return ready.subtype() == caf::resumable::scheduled_actor &&
         std::string_view{static_cast<caf::scheduled_actor&>(ready).name()}.starts_with(prefix);
}

bool run_on_new_thread(caf::actor_system& system, std::function<void()> act) {
  if (!has_threads(system)) {
    system.spawn([act = std::move(act)](caf::event_based_actor*) { act(); });
    return true;
  }
  system.inc_detached_threads();
  try {
    std::thread{[&system, act = std::move(act)]() mutable {
      ::pthread_setname_np(::pthread_self(), "troupe.helper");
      act();
      act = nullptr; // it may own actors
      system.dec_detached_threads();
    }}.detach();
    return true;
  } catch (const std::exception&) { // no thread, or no memory
    system.dec_detached_threads();
    return false;
  }
}

caf::error exception_as_error(std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (...) {
    return to_caf(explain_exception("handling a message"));
  }
}

void end_on_exceptions(caf::scheduled_actor* self) {
  self->set_exception_handler(
      [](std::exception_ptr& thrown) -> caf::error { return exception_as_error(thrown); });
}

std::function<std::chrono::steady_clock::time_point()> clock_of(caf::actor_system& system) {
  return [&system] { return system.clock().now(); };
}

} // namespace troupe
