// A deterministic actor system: no threads, virtual time, and an order of execution that the test
// chooses.
#pragma once
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/errors.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <random>

namespace troupe::test {

/// Test -> fake actor: do this. (A promise must be answered by its actor, not from outside.)
struct deed {
  std::function<void()> act;
};

/// An answer that may not have come yet.
template <class Answer>
using answer_box = std::shared_ptr<std::optional<result<Answer>>>;

class actor_world {
public:
  actor_world()
      : system_(config_),
        scheduler_(static_cast<caf::scheduler::test_coordinator&>(system_.scheduler())) {}

  /// Whatever still waits for a time is told that it has come, so that no actor is kept by a timer.
  ~actor_world() {
    run();
    while (scheduler_.has_pending_timeout()) {
      scheduler_.trigger_timeouts();
      run();
    }
  }

  caf::actor_system& system() { return system_; }
  std::chrono::steady_clock::time_point now() { return scheduler_.clock().now(); }

  /// Runs until nothing is left to do now.
  void run() {
    while (scheduler_.try_run_once())
      ;
  }
  /// The same in a random order; calls `between` before each.
  template <class Between>
  void run_shuffled(std::mt19937& dice, Between between) {
    auto& jobs = scheduler_.jobs;
    for (;;) {
      between();
      if (jobs.empty())
        return;
      std::swap(jobs.front(), jobs[dice() % jobs.size()]);
      scheduler_.run_once();
    }
  }
  size_t ready() const { return scheduler_.jobs.size(); }
  /// Messages and time-outs that wait for their time.
  size_t timers() const { return scheduler_.clock().schedule().size(); }

  /// Lets time pass, while nothing runs.
  void advance(std::chrono::milliseconds time) { scheduler_.advance_time(time); }
  /// Lets time pass, and runs what becomes due.
  void pass(std::chrono::milliseconds time) {
    advance(time);
    run();
  }

  /// Sends a request; the answer comes while the world runs.
  template <class Answer, class... Question>
  answer_box<Answer> ask(const caf::actor& whom, Question... question) {
    auto box = std::make_shared<std::optional<result<Answer>>>();
    system_.spawn([=](caf::event_based_actor* self) {
      self->request(whom, caf::infinite, question...)
          .then([=](Answer& answer) { *box = std::move(answer); },
                [=](const caf::error& why) { *box = from_caf(why); });
    });
    return box;
  }

private:
  struct config : caf::actor_system_config {
    config() { set("scheduler.policy", caf::atom("testing")); }
  };

  watchdog watch_;
  config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& scheduler_;
};

} // namespace troupe::test

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::test::deed)
