// One simulated process: an actor system of its own, which runs when the simulation says so.
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
  /// Leaves the actor system behind where actors are left in it: it would wait for them.
  ~process();

  const std::string& name() const noexcept { return name_; }
  size_t index() const noexcept { return index_; }
  /// It has another name in the trace, and another host, from now on.
  void become(std::string name, size_t index) {
    name_ = std::move(name);
    index_ = index;
  }
  caf::actor_system& system() { return *system_; }
  const std::shared_ptr<simulated_loop>& loop() const noexcept { return loop_; }

  /// The earliest time at which it has something to do; none: time_point::max().
  time_point next() const;
  /// Until then nothing of it runs: it is busy, or paused.
  void sleep_until(time_point when) { wake_at(std::max(wakes_, when)); }
  void wake_at(time_point when) {
    wakes_ = when;
    is_known_ = false;
  }
  time_point wakes() const noexcept { return wakes_; }
  /// Its clock shows this from now on. Before anything is done to its actors from outside.
  void enter(time_point now);
  /// Fires what is due, then has one actor handle one message, or its loop one socket.
  void run_one(time_point now, dice* order);

  size_t timers() const;
  size_t actors() const;

  /// Runs all that is left in no time, then lets time pass until nothing waits for it. Returns how
  /// much that was. Its actors were told to end before.
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
  mutable time_point next_{}; ///< of a process to which nothing has happened since it was asked
  mutable bool is_known_ = false;
};

} // namespace troupe::simulate
