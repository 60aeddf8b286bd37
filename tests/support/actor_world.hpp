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

/// Test -> fake actor: run this function. (An actor must answer its promise itself, not another
/// thread.)
struct actor_action {
  std::function<void()> act;
};

/// An answer that may not have arrived yet.
template <class Answer>
using awaited_answer = std::shared_ptr<std::optional<result<Answer>>>;

class actor_world {
public:
  actor_world()
      : system_(config_),
        scheduler_(static_cast<caf::scheduler::test_coordinator&>(system_.scheduler())) {}

  /// Triggers all pending timeouts, so that no timer keeps an actor alive.
  ~actor_world() {
    run();
    while (scheduler_.has_pending_timeout()) {
      scheduler_.trigger_timeouts();
      run();
    }
  }

  caf::actor_system& system() { return system_; }
  std::chrono::steady_clock::time_point now() { return scheduler_.clock().now(); }

  /// Runs until no message is left to handle now.
  void run() {
    while (scheduler_.try_run_once())
      ;
  }
  /// Runs the messages in a random order; calls `before_each` before each of them.
  template <class Between>
  void run_shuffled(std::mt19937& generator, Between before_each) {
    auto& jobs = scheduler_.jobs;
    for (;;) {
      before_each();
      if (jobs.empty())
        return;
      std::swap(jobs.front(), jobs[generator() % jobs.size()]);
      scheduler_.run_once();
    }
  }
  size_t ready() const { return scheduler_.jobs.size(); }
  /// Messages and timeouts that are scheduled for later.
  size_t timers() const { return scheduler_.clock().schedule().size(); }

  /// Lets time pass without running any actor.
  void advance(std::chrono::milliseconds time) { scheduler_.advance_time(time); }
  /// Lets time pass, and runs the messages that become due.
  void advance_and_run(std::chrono::milliseconds time) {
    advance(time);
    run();
  }

  /// Sends a request; the answer arrives while the world runs.
  template <class Answer, class... Question>
  awaited_answer<Answer> ask(const caf::actor& target, Question... question) {
    auto pending = std::make_shared<std::optional<result<Answer>>>();
    system_.spawn([=](caf::event_based_actor* self) {
      self->request(target, caf::infinite, question...)
          .then([=](Answer& answer) { *pending = std::move(answer); },
                [=](const caf::error& reason) { *pending = from_caf(reason); });
    });
    return pending;
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

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::test::actor_action)
