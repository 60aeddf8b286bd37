// A master of a thousand tasks with a thousand steps in flight, in virtual time.
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/session/master.hpp"
#include "troupe/actors/session/prepared_step.hpp"

#include <malloc.h>

namespace troupe::test::scale_test {

using namespace std::chrono_literals;

namespace {

constexpr int tasks = 1000, steps = 1000;

// Bytes; 0 under a sanitizer, which has a heap of its own.
std::ptrdiff_t heap_in_use() { return static_cast<std::ptrdiff_t>(mallinfo2().uordblks); }

// Stands in for all tasks; keeps its answers until the test requests them.
struct many_workers {
  size_t registrations = 0, runs = 0, other_messages = 0;
  std::vector<caf::typed_response_promise<step_result>> owed;
};

caf::behavior behavior_of(caf::event_based_actor* self, many_workers* log) {
  return {[=](const register_request&) -> caf::result<registered> {
            return registered{++log->registrations, nullptr};
          },
          [=](const run_request&) -> caf::result<step_result> {
            ++log->runs;
            log->owed.push_back(self->make_response_promise<step_result>());
            return log->owed.back();
          },
          [](const actor_action& action) { action.act(); },
          [=](const outgoing&) { ++log->other_messages; }, [=](const forget_program&) {}};
}

struct large_world : actor_world {
  many_workers log;
  caf::actor workers, master;

  large_world() {
    workers = system().spawn(behavior_of, &log);
    master_options options;
    options.session = 7;
    for (int i = 0; i < tasks; ++i) {
      options.devices.push_back({"worker", i, "cpu", 0});
      options.workers.emplace(task_name{"worker", i}, workers);
    }
    master = spawn_master(system(), std::move(options));
  }
  ~large_world() {
    for (const auto& actor_handle : {master, workers})
      caf::anon_send_exit(actor_handle, caf::exit_reason::user_shutdown);
    log.owed.clear();
    master = workers = nullptr;
    run();
  }

  // A step with one partition on each of that many tasks.
  std::shared_ptr<prepared_step> prepare(int first, int count) {
    std::string lines;
    for (int i = 0; i < count; ++i)
      lines +=
          concat("x", i, " = Neg(f32(1)) @\"/job:worker/task:", first + i, "\"\ntarget x", i, "\n");
    text_case text{lines};
    auto answer = ask<std::shared_ptr<prepared_step>>(
        master, *prepare_request::make(*text.nodes, signature_of(text.text.runs[0]), now() + 60s));
    run();
    REQUIRE(*answer);
    INFO((**answer).status());
    REQUIRE((**answer).ok());
    return ***answer;
  }
  void answer_all() {
    caf::anon_send(workers, actor_action{[this] {
                     for (auto& owed_answer : std::exchange(log.owed, {}))
                       owed_answer.deliver(step_result{});
                   }});
    run();
  }
};

} // namespace

TEST_CASE("a step costs one request for each task that takes part, however large the cluster is") {
  large_world world;
  std::vector<std::shared_ptr<prepared_step>> prepared;
  for (int i = 0; i < 10; ++i)
    prepared.push_back(world.prepare(i * 100, 3));
  std::vector<awaited_answer<step_outcome>> open;
  auto timers = world.timers();
  const auto idle = heap_in_use();
  for (int i = 0; i < steps; ++i)
    open.push_back(world.ask<step_outcome>(world.master,
                                           step_request{prepared[i % 10], {}, world.now() + 1h}));
  world.run();
  CHECK(world.log.runs == 3 * steps);
  CHECK(world.timers() <= timers + 1);
  auto heap_growth = heap_in_use() - idle;
  INFO("a step in flight takes " << heap_growth / steps
                                 << " bytes, with the stand-in for its tasks");
  CHECK(heap_growth < steps * 8192);
  world.answer_all();
  for (const auto& open_step : open) {
    REQUIRE(*open_step);
    CHECK((**open_step)->outcome.ok());
  }
  CHECK(world.log.other_messages == 0); // no step was cancelled
  CHECK(world.timers() <= timers + 1);
}

TEST_CASE("a prepared step that does not run takes a few kilobytes, until it is released") {
  large_world world;
  std::vector<std::shared_ptr<prepared_step>> prepared;
  auto round = [&] {
    for (int i = 0; i < 100; ++i)
      prepared.push_back(world.prepare(i, 3));
  };
  auto forget = [&] {
    prepared.clear();
    world.run();
  };
  round(); // warms up the allocations of the first steps
  forget();
  const auto before = heap_in_use();
  round();
  auto heap_growth = heap_in_use() - before;
  INFO("a prepared step takes " << heap_growth / 100 << " bytes");
  CHECK(heap_growth < 100 * 32'768);
  forget();
  for (int i = 0; i < 10; ++i) {
    round();
    forget();
  }
  auto remaining_bytes = (heap_in_use() - before) / 1100;
  INFO("of each of 1100 stay " << remaining_bytes << " bytes");
  CHECK(remaining_bytes < 16);
}

TEST_CASE("an idle session takes a few kilobytes") {
  actor_world world;
  std::vector<caf::actor> sessions;
  auto open = [&] {
    master_options options;
    options.session = sessions.size();
    options.devices.push_back({"worker", 0, "cpu", 0});
    sessions.push_back(spawn_master(world.system(), std::move(options)));
    world.run();
  };
  open();
  const auto before = heap_in_use();
  for (int i = 0; i < 100; ++i)
    open();
  auto heap_growth = heap_in_use() - before;
  INFO("a session takes " << heap_growth / 100 << " bytes");
  CHECK(heap_growth < 100 * 16'384);
  for (const auto& open_session : sessions)
    caf::anon_send_exit(open_session, caf::exit_reason::user_shutdown);
  sessions.clear();
  world.run();
}

TEST_CASE("steps over a thousand tasks end when the last task answers, or when one fails") {
  large_world world;
  auto step = world.prepare(0, tasks);
  CHECK(world.log.registrations == tasks);
  std::vector<awaited_answer<step_outcome>> open;
  for (int i = 0; i < 20; ++i)
    open.push_back(world.ask<step_outcome>(world.master, step_request{step, {}, world.now() + 1h}));
  world.run();
  CHECK(world.log.runs == 20 * tasks);
  world.answer_all();
  for (const auto& open_step : open)
    CHECK((**open_step)->outcome.ok());
  auto failing = world.ask<step_outcome>(world.master, step_request{step, {}, world.now() + 1h});
  world.run();
  caf::anon_send(
      world.workers, actor_action{[&] {
        world.log.owed.back().deliver(step_result{failure(error_kind::internal, "cause"), {}});
        world.log.owed.pop_back();
      }});
  world.run();
  CHECK(world.log.other_messages == tasks - 1); // each of the other tasks is notified once
  world.answer_all();
  CHECK((**failing)->outcome.message() == "cause");
}

} // namespace troupe::test::scale_test
