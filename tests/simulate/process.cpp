#include "tests/simulate/process.hpp"

#include <caf/atom.hpp>

#include <algorithm>

namespace troupe::simulate {

struct process::config : caf::actor_system_config {
  config() {
    set("scheduler.policy", caf::atom("testing"));
    set("scheduler.max-threads", size_t{1});
  }
};

process::process(std::string name, size_t index, const socket_states& sockets)
    : name_(std::move(name)), index_(index), config_(std::make_unique<config>()),
      system_(std::make_unique<caf::actor_system>(*config_)),
      loop_(std::make_shared<simulated_loop>(sockets)) {}

process::~process() {
  if (actors() > 0) {
    system_.release();
    config_.release();
  }
}

caf::scheduler::test_coordinator& process::scheduler() const {
  return static_cast<caf::scheduler::test_coordinator&>(system_->scheduler());
}

time_point process::next() const {
  if (loop_->has_changed() || !is_known_)
    next_ = find_next();
  is_known_ = true;
  return next_;
}

time_point process::find_next() const {
  if (!scheduler().jobs.empty())
    return wakes_;
  const auto& waiting = scheduler().clock().schedule();
  auto earliest = loop_->next();
  if (!waiting.empty())
    earliest = std::min<time_point>(earliest, waiting.begin()->first);
  return std::max(wakes_, earliest);
}

void process::enter(time_point now) {
  scheduler().clock().current_time = now;
  is_known_ = false;
}

void process::run_one(time_point now, dice* order) {
  auto& actor_scheduler = scheduler();
  enter(now);
  actor_scheduler.advance_time(caf::timespan{0});
  auto& jobs = actor_scheduler.jobs;
  if (loop_->next() <= now && (!order || order->below(jobs.size() + 1) == 0))
    return loop_->run_one(now, order);
  if (jobs.empty())
    return;
  if (order)
    std::swap(jobs.front(), jobs[order->below(jobs.size())]);
  actor_scheduler.run_once();
}

size_t process::timers() const { return scheduler().clock().schedule().size(); }
size_t process::actors() const { return system_->registry().running(); }

duration process::finish(time_point now) {
  is_known_ = false;
  auto& actor_scheduler = scheduler();
  auto time = std::max(now, actor_scheduler.clock().current_time);
  actor_scheduler.clock().current_time = time;
  auto run = [&] {
    while (actor_scheduler.try_run_once() || loop_->settle())
      ;
  };
  run();
  auto needed = time;
  // The timer of an actor that has ended is only removed.
  while (actors() > 0 && actor_scheduler.has_pending_timeout()) {
    needed = std::max(needed, actor_scheduler.clock().schedule().begin()->first);
    set_time(needed);
    actor_scheduler.trigger_timeout();
    run();
  }
  while (actor_scheduler.has_pending_timeout()) {
    actor_scheduler.trigger_timeouts();
    run();
  }
  set_time(now);
  return needed - time;
}

} // namespace troupe::simulate
