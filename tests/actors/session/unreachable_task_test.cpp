// Steps that are placed again when a task does not return.
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_worker.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/session/master.hpp"
#include "troupe/actors/session/prepared_step.hpp"

namespace troupe::test::unreachable_task_test {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

// Two workers in other processes, each of which may be unreachable. Nodes without a device belong
// to the first worker.
struct two_workers_world : actor_world {
  fake_worker workers[2];
  bool is_there[2] = {true, true};
  uint64_t incarnations[2] = {1, 1};
  caf::actor exchanges[2], membership, master;
  std::vector<std::pair<connect_request, caf::typed_response_promise<peer_link>>> looking;
  std::vector<std::string> warnings;
  text_case text{R"(
x = Placeholder dtype=f32 shape=[]
open = Neg(x)
named = Neg(x) @"/job:worker/task:0"
v = VariableV2 dtype=f32 shape=[]
feed x = f32(1)
fetch open
run
feed x = f32(1)
fetch named
run
fetch v
)"};

  two_workers_world() {
    for (size_t i = 0; i < 2; ++i)
      exchanges[i] = system().spawn(fake_behavior, &workers[i]);
    membership = system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      return {
          [](watch_atom) {}, [](const waits_report&) {},
          [](const actor_action& action) { action.act(); },
          [=, this](const connect_request& request) -> caf::result<peer_link> {
            auto worker_index = static_cast<size_t>(request.task.task);
            if (is_there[worker_index])
              return peer_link{request.task, incarnations[worker_index], exchanges[worker_index]};
            auto promise = self->make_response_promise<peer_link>();
            looking.emplace_back(request, promise);
            return promise;
          }};
    });
    master = spawn_master(system(), {.session = uint64_t{7} << 40,
                                     .container = {},
                                     .devices = {{"worker", 0, "cpu", 0}, {"worker", 1, "cpu", 0}},
                                     .workers = {},
                                     .membership = membership,
                                     .on_warning = [this](const std::string& warning) {
                                       warnings.push_back(warning);
                                     }});
    run();
  }
  ~two_workers_world() {
    step.reset();
    for (auto* actor_handle : {&master, &membership, &exchanges[0], &exchanges[1]})
      caf::anon_send_exit(*actor_handle, caf::exit_reason::user_shutdown);
    for (size_t i = 0; i < 2; ++i) {
      workers[i] = {};
      exchanges[i] = nullptr;
    }
    looking.clear();
    master = membership = nullptr;
    run();
  }

  // Lets time pass as a membership does: a request for an unreachable task fails at its deadline.
  void pass_by(std::chrono::milliseconds time) {
    for (auto end_time = now() + time; now() < end_time;) {
      advance_and_run(50ms);
      for (auto& [request, promise] : std::exchange(looking, {}))
        if (is_there[static_cast<size_t>(request.task.task)] || request.deadline <= now())
          answer_connect_request(request, promise);
        else
          looking.emplace_back(request, promise);
    }
  }
  void answer_connect_request(const connect_request& request,
                              caf::typed_response_promise<peer_link> promise) {
    auto worker_index = static_cast<size_t>(request.task.task);
    caf::anon_send(membership, actor_action{[this, request, worker_index, promise]() mutable {
                     if (is_there[worker_index])
                       promise.deliver(peer_link{request.task, incarnations[worker_index],
                                                 exchanges[worker_index]});
                     else
                       promise.deliver(to_caf(failure(error_kind::unavailable, request.task,
                                                      " could not be reached in time")));
                   }});
    run();
  }
  awaited_answer<std::shared_ptr<prepared_step>> prepare(size_t run_index) {
    auto answer = ask<std::shared_ptr<prepared_step>>(
        master,
        *prepare_request::make(*text.nodes, signature_of(text.text.runs[run_index]), now() + 20s));
    run();
    return answer;
  }
  awaited_answer<step_outcome> start(std::chrono::milliseconds timeout = 20s) {
    auto answer =
        ask<step_outcome>(master, step_request{step, {tensor::scalar(1.0f)}, now() + timeout});
    run();
    return answer;
  }
  void leave(size_t worker_index) {
    is_there[worker_index] = false;
    caf::anon_send(master, link_lost{{"worker", static_cast<int>(worker_index)},
                                     failure(error_kind::unavailable, "gone")});
    run();
  }
  status end_of(const awaited_answer<step_outcome>& answer, size_t worker) {
    REQUIRE(workers[worker].runs.size() == 1);
    auto promise = workers[worker].runs.back().second;
    workers[worker].runs.clear();
    caf::anon_send(exchanges[worker], actor_action{[=]() mutable {
                     promise.deliver(step_result{{}, {{0, tensor::scalar(1.0f)}}});
                   }});
    run();
    return outcome_of(answer);
  }

  std::shared_ptr<prepared_step> step;
};

} // namespace

TEST_CASE("a prepared step whose task does not return continues on another task") {
  two_workers_world world;
  world.step = ***world.prepare(0);
  CHECK(world.end_of(world.start(), 0).ok());
  world.leave(0);
  auto next = world.start(), second_run = world.start();
  world.pass_by(4900ms);
  CHECK(world.workers[1].handles == 0); // the worker may still return
  world.pass_by(200ms);
  REQUIRE(world.workers[1].runs.size() == 2);
  auto runs = std::exchange(world.workers[1].runs, {});
  for (auto& run_answer : runs) {
    CHECK(run_answer.first.feeds.size() == 1);
    world.workers[1].runs.push_back(run_answer);
    (void)world.end_of(run_answer.first.step == runs[0].first.step ? next : second_run, 1).ok();
  }
  CHECK(outcome_of(next).ok());
  CHECK(outcome_of(second_run).ok());
  CHECK(world.workers[1].handles == 1); // once for all waiting requests
  REQUIRE(world.warnings.size() == 1);
  CHECK_THAT(world.warnings[0], Contains("/job:worker/task:0 does not come back"));
  // The step stays where it is, though the first worker has returned.
  world.is_there[0] = true;
  CHECK(world.end_of(world.start(), 1).ok());
}

TEST_CASE("a run that has begun is not moved, so that its effects are not repeated") {
  two_workers_world world;
  world.step = ***world.prepare(0);
  auto first = world.start();
  REQUIRE(world.workers[0].runs.size() == 1);
  auto promise = world.workers[0].runs.back().second;
  world.leave(0);
  caf::anon_send(world.exchanges[0], actor_action{[=]() mutable {
                   promise.deliver(to_caf(failure(error_kind::unavailable, "it is lost")));
                 }});
  world.pass_by(10s);
  CHECK(outcome_of(first).kind() == error_kind::unavailable);
  CHECK(world.workers[1].handles == 0);
}

TEST_CASE("a task that returns in time keeps its steps") {
  two_workers_world world;
  world.step = ***world.prepare(0);
  world.leave(0);
  auto next = world.start();
  world.pass_by(4s);
  world.is_there[0] = true;
  world.pass_by(2s);
  CHECK(world.end_of(next, 0).ok());
  CHECK(world.workers[1].handles == 0);
  CHECK(world.warnings.empty());
}

TEST_CASE("runs with deadlines shorter than the wait for a task move to another task in the end") {
  two_workers_world world;
  world.step = ***world.prepare(0);
  world.leave(0);
  auto failures = 0;
  for (int i = 0; i < 20; ++i) {
    auto next = world.start(1s);
    world.pass_by(600ms);
    if (!world.workers[1].runs.empty()) {
      CHECK(world.end_of(next, 1).ok());
      break;
    }
    world.pass_by(400ms);
    failures += outcome_of(next).kind() == error_kind::unavailable;
  }
  CHECK(failures == 5);
  CHECK(world.workers[1].handles == 1);
}

TEST_CASE(
    "steps prepared while the first worker is away run on the second until the first returns") {
  two_workers_world world;
  world.is_there[0] = false;
  auto first = world.prepare(0);
  world.pass_by(5100ms);
  REQUIRE(*first);
  world.step = ***first;
  CHECK(world.end_of(world.start(), 1).ok());
  world.step = ***world.prepare(0); // at once
  CHECK(world.end_of(world.start(), 1).ok());
  CHECK(world.warnings.size() == 1);
  world.is_there[0] = true;
  world.pass_by(2s);
  (void)world.prepare(0); // looks for the worker
  world.pass_by(1s);
  world.step = ***world.prepare(0);
  CHECK(world.end_of(world.start(), 0).ok());
}

TEST_CASE("a step is not placed while no task runs, and then on the first task that starts") {
  for (size_t returning_worker : {0, 1}) {
    CAPTURE(returning_worker);
    two_workers_world world;
    world.is_there[0] = world.is_there[1] = false; // a cluster that has not started yet
    auto answer = world.prepare(0);
    world.pass_by(7s);
    CHECK(!*answer);
    world.is_there[returning_worker] = true;
    world.pass_by(returning_worker == 0 ? 100ms : 11s);
    REQUIRE(*answer);
    REQUIRE((*answer)->ok());
    world.step = ***answer;
    CHECK(world.end_of(world.start(), returning_worker).ok());
    CHECK(world.warnings.size() == returning_worker);
  }
}

TEST_CASE("nodes that name a task, and state, wait for that task") {
  for (size_t lost_worker : {1, 2}) {
    CAPTURE(lost_worker);
    two_workers_world world;
    world.is_there[0] = false;
    auto answer = world.prepare(lost_worker);
    world.pass_by(21s);
    REQUIRE(*answer);
    CHECK((*answer)->status().kind() == error_kind::unavailable);
    CHECK_THAT((*answer)->status().message(), Contains("/job:worker/task:0"));
    CHECK(world.workers[1].handles == 0);
  }
}

} // namespace troupe::test::unreachable_task_test
