// One simulated process: an actor system of its own, which the simulation runs step by step.
#pragma once
#include "tests/simulate/loop.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <memory>
#include <string>

namespace troupe::simulate {

class process {
public:
  process(std::string name, size_t index, const socket_states& sockets);
  /// Leaks the actor system if it still has actors, because its destructor would wait for them.
  ~process();

  const std::string& name() const noexcept { return name_; }
  size_t index() const noexcept { return index_; }
  /// From now on it has another name in the trace, and another host.
  void become(std::string name, size_t index) {
    name_ = std::move(name);
    index_ = index;
  }
  caf::actor_system& system() { return *system_; }
  const std::shared_ptr<simulated_loop>& loop() const noexcept { return loop_; }

  /// The earliest time at which it has work; time_point::max() if there is none.
  time_point next() const;
  /// The process runs no event until that time, because it is busy or paused.
  void sleep_until(time_point when) { wake_at(std::max(wakes_, when)); }
  void wake_at(time_point when) {
    wakes_ = when;
    is_known_ = false;
  }
  time_point wakes() const noexcept { return wakes_; }
  /// From now on its clock shows this time. Must be called before its actors are used from outside.
  void enter(time_point now);
  /// Fires due timers, then lets one actor handle one message, or its loop one socket.
  void run_one(time_point now, dice* order);

  size_t timers() const;
  size_t actors() const;

  /// Runs all remaining work without advancing time, then advances time until nothing waits.
  /// Returns the time that this took. Its actors must have been asked to end before.
  duration finish(time_point now);

private:
  struct config;
  caf::scheduler::test_coordinator& scheduler() const;
  time_point find_next() const;

  std::string name_;
  size_t index_;
  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  std::shared_ptr<simulated_loop> loop_;
  time_point wakes_{};
  mutable time_point next_{}; ///< cached; valid until something happens to the process
  mutable bool is_known_ = false;
};

} // namespace troupe::simulate
