#include "troupe/actors/session/master.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_worker.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/session/prepared_step.hpp"

namespace troupe::test::master_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

struct master_world : actor_world {
  fake_worker worker_0, worker_1;
  caf::actor workers[2], master;
  text_case text{R"(
x = Placeholder dtype=f32 shape=[] @"/job:worker/task:0"
y = Neg(x) @"/job:worker/task:0"
z = Exp(y) @"/job:worker/task:1"
feed x = f32(1)
fetch y
fetch z
)"};
  std::shared_ptr<prepared_step> step;

  master_world() {
    workers[0] = system().spawn(fake_behavior, &worker_0);
    workers[1] = system().spawn(fake_behavior, &worker_1);
    master = spawn_master(system(),
                          {.session = uint64_t{7} << 40,
                           .container = {},
                           .devices = {{"worker", 0, "cpu", 0}, {"worker", 1, "cpu", 0}},
                           .workers = {{{"worker", 0}, workers[0]}, {{"worker", 1}, workers[1]}},
                           .membership = {}});
  }
  ~master_world() {
    step.reset();
    for (auto& one_actor : {master, workers[0], workers[1]})
      caf::anon_send_exit(one_actor, caf::exit_reason::user_shutdown);
    worker_0 = worker_1 = {};
    master = workers[0] = workers[1] = nullptr;
    run();
  }

  awaited_answer<std::shared_ptr<prepared_step>> begin_prepare() {
    auto pending = ask<std::shared_ptr<prepared_step>>(
        master, *prepare_request::make(*text.nodes, signature_of(text.text.runs[0]), now() + 1s));
    run();
    return pending;
  }
  void prepare() { step = ***begin_prepare(); }
  awaited_answer<step_outcome> start(std::chrono::milliseconds timeout = 1s,
                                     const std::stop_token& stop = {}) {
    step_request request{step, {tensor::scalar(1.0f)}, now() + timeout};
    request.stop = stop;
    auto pending = ask<step_outcome>(master, std::move(request));
    run();
    return pending;
  }
  void act_as(fake_worker& worker, std::function<void()> action_body) {
    caf::anon_send(workers[&worker == &worker_1], actor_action{std::move(action_body)});
    run();
  }
  void answer(fake_worker& worker, step_result reply) {
    REQUIRE(!worker.runs.empty());
    auto promise = worker.runs.back().second;
    worker.runs.pop_back();
    act_as(worker, [=]() mutable { promise.deliver(reply); });
  }
};

step_result fails(error_kind kind, const char* text) { return {failure(kind, text), {}}; }

} // namespace

TEST_CASE("a master that compiles late does not need the graph") {
  master_world world;
  auto answer = world.ask<std::shared_ptr<prepared_step>>(
      world.master, *prepare_request::make(*world.text.nodes, signature_of(world.text.text.runs[0]),
                                           world.now() + 1s));
  world.text.nodes.reset(); // the requester has released the graph
  world.run();
  REQUIRE(*answer);
  CHECK(answer->value());
}

TEST_CASE("a step's fetches come from all its tasks, and feeds are sent only where they are used") {
  master_world world;
  world.prepare();
  auto answer = world.start();
  REQUIRE(world.worker_0.runs.size() == 1);
  REQUIRE(world.worker_1.runs.size() == 1);
  CHECK(world.worker_0.runs[0].first.feeds.size() == 1);
  CHECK(world.worker_1.runs[0].first.feeds.empty());
  CHECK(world.worker_0.runs[0].first.step == world.worker_1.runs[0].first.step);
  world.answer(world.worker_1, {{}, {{1, tensor::scalar(2.0f)}}});
  CHECK(!*answer);
  world.answer(world.worker_0, {{}, {{0, tensor::scalar(3.0f)}}});
  REQUIRE(outcome_of(answer).ok());
  CHECK(*(**answer)->fetches.at(0).data<float>() == 3.0f);
  CHECK(*(**answer)->fetches.at(1).data<float>() == 2.0f);
  world.advance_and_run(10s);
  CHECK(world.worker_0.cancels.empty());
}

TEST_CASE("the deadline's error names the silent tasks, and their part of the step is stopped") {
  master_world world;
  world.prepare();
  auto answer = world.start(1s);
  world.answer(world.worker_0, {{}, {{0, tensor::scalar(3.0f)}}});
  world.advance_and_run(990ms);
  CHECK(world.worker_1.cancels.empty());
  world.advance_and_run(20ms);
  REQUIRE(world.worker_1.cancels.size() == 1);
  CHECK(world.worker_0.cancels.empty());
  CHECK(!*answer); // the step may still stop in order
  world.advance_and_run(60ms);
  auto outcome = outcome_of(answer);
  CHECK(outcome.kind() == error_kind::deadline_exceeded);
  CHECK(outcome.message().find("/job:worker/task:1") != std::string::npos);
  CHECK(outcome.message().find("/job:worker/task:0") == std::string::npos);
}

TEST_CASE("a step that stops at its deadline answers as soon as all tasks have stopped") {
  master_world world;
  world.prepare();
  auto answer = world.start(1s);
  world.advance_and_run(1010ms);
  world.answer(world.worker_0, fails(error_kind::deadline_exceeded, "stopped"));
  CHECK(!*answer);
  world.answer(world.worker_1, fails(error_kind::deadline_exceeded, "stopped"));
  CHECK(outcome_of(answer).message().find("was not done in time") != std::string::npos);
}

TEST_CASE("the first cause of a failure is reported, not its consequences") {
  master_world world;
  world.prepare();
  auto answer = world.start();
  world.answer(world.worker_1, fails(error_kind::invalid_argument, "the cause"));
  REQUIRE(world.worker_0.cancels.size() == 1);
  CHECK(world.worker_0.cancels[0].reason.message() == "the cause");
  CHECK(!*answer);
  world.answer(world.worker_0, fails(error_kind::cancelled, "the echo"));
  CHECK(outcome_of(answer).message() == "the cause");
}

TEST_CASE("a step that lost a task is registered again, once for all its runs") {
  master_world world;
  world.prepare();
  auto answer = world.start();
  auto old = world.worker_0.handles;
  world.answer(world.worker_1, fails(error_kind::unavailable, "gone"));
  world.answer(world.worker_0, fails(error_kind::cancelled, "echo"));
  CHECK(outcome_of(answer).kind() == error_kind::unavailable);
  world.worker_0.registers_at_once = false;
  auto first = world.start(), second = world.start(), third = world.start();
  CHECK(world.worker_0.dropped == std::vector<uint64_t>{old});
  REQUIRE(world.worker_0.registering.size() == 1);
  world.act_as(world.worker_0, [&] {
    world.worker_0.registering[0].deliver(registered{77, nullptr});
  });
  REQUIRE(world.worker_0.runs.size() == 3);
  for (const auto& [request, promise] : world.worker_0.runs)
    CHECK(request.handle == 77);
  for (int i = 0; i < 3; ++i) {
    world.answer(world.worker_0, {});
    world.answer(world.worker_1, {});
  }
  CHECK(outcome_of(first).ok());
  CHECK(outcome_of(second).ok());
  CHECK(outcome_of(third).ok());
}

TEST_CASE("a step that a task cannot run any more is registered again before its next run") {
  master_world world;
  world.prepare();
  auto tell = [&](uint64_t handle) {
    caf::anon_send(world.master, part_lost{{"worker", 0}, handle});
    world.run();
  };
  auto first_handle = world.worker_0.handles, second_handle = world.worker_1.handles;
  tell(first_handle + 1); // a message of another step, or of none
  auto answer = world.start();
  REQUIRE(world.worker_0.runs.size() == 1);
  CHECK(world.worker_0.runs[0].first.handle == first_handle);
  world.answer(world.worker_0, {});
  world.answer(world.worker_1, {});
  CHECK(outcome_of(answer).ok());
  tell(first_handle);
  auto second_answer = world.start();
  REQUIRE(world.worker_0.runs.size() == 1);
  CHECK(world.worker_0.runs[0].first.handle == first_handle + 1);
  CHECK(world.worker_1.runs[0].first.handle == second_handle + 1); // the task answers this run
  world.answer(world.worker_0, {});
  world.answer(world.worker_1, {});
  CHECK(outcome_of(second_answer).ok());
}

TEST_CASE("the error names a task that does not register a step in time") {
  master_world world;
  world.worker_1.registers_at_once = false;
  auto answer = world.begin_prepare();
  CHECK(!*answer);
  world.advance_and_run(1100ms);
  REQUIRE(*answer);
  CHECK((**answer).status().kind() == error_kind::deadline_exceeded);
  CHECK((**answer).status().message().find("/job:worker/task:1") != std::string::npos);
}

TEST_CASE("a run that waits for another registration waits until its own deadline") {
  master_world world;
  world.prepare();
  auto answer = world.start();
  world.answer(world.worker_1, fails(error_kind::unavailable, "gone"));
  world.answer(world.worker_0, fails(error_kind::cancelled, "echo"));
  world.worker_1.registers_at_once = false;
  auto hasty_answer = world.start(100ms), patient_answer = world.start(10s);
  world.advance_and_run(200ms);
  CHECK(outcome_of(hasty_answer).kind() == error_kind::deadline_exceeded);
  CHECK(outcome_of(hasty_answer).message().find("/job:worker/task:1 did not register") !=
        std::string::npos);
  CHECK(!*patient_answer);
  REQUIRE(world.worker_1.registering.size() == 1);
  world.act_as(world.worker_1, [&] {
    world.worker_1.registering[0].deliver(registered{5, nullptr});
  });
  REQUIRE(world.worker_1.runs.size() == 1);
  world.answer(world.worker_0, {});
  world.answer(world.worker_1, {});
  CHECK(outcome_of(patient_answer).ok());
}

TEST_CASE("a registration that no run waits for any more is released") {
  master_world world;
  world.worker_1.registers_at_once = false;
  auto answer = world.begin_prepare();
  world.advance_and_run(1100ms);
  REQUIRE(*answer);
  CHECK(world.worker_1.dropped.empty());
  world.act_as(world.worker_1, [&] {
    world.worker_1.registering[0].deliver(registered{42, nullptr});
  });
  CHECK(world.worker_1.dropped == std::vector<uint64_t>{42});
}

TEST_CASE("a silent task without listed devices delays no node that another task can run") {
  master_world world;
  text_case gpu{"x = Neg(f32(1)) @\"/gpu:0\"\nfetch x"};
  auto answer = world.ask<std::shared_ptr<prepared_step>>(
      world.master,
      *prepare_request::make(*gpu.nodes, signature_of(gpu.text.runs[0]), world.now() + 30s));
  world.run();
  REQUIRE(world.worker_0.listing.size() == 1);
  REQUIRE(world.worker_1.listing.size() == 1);
  world.act_as(world.worker_1, [&] {
    world.worker_1.listing[0].deliver(
        std::vector<device_info>{{"/job:worker/task:1/device:gpu:0", "gpu", 1, ""}});
  });
  world.advance_and_run(11s);
  REQUIRE(*answer);
  INFO((**answer).status());
  CHECK((**answer).ok());
  CHECK(world.worker_1.handles == 1);
  CHECK(world.worker_0.handles == 0);
  // Known results are not requested again; tasks without an answer are asked again.
  auto two = world.ask<std::shared_ptr<prepared_step>>(
      world.master,
      *prepare_request::make(*gpu.nodes, signature_of(gpu.text.runs[0]), world.now() + 30s));
  world.run();
  CHECK(world.worker_1.listing.size() == 1);
  CHECK(world.worker_0.listing.size() == 1);
  REQUIRE(*two);
  *answer = *two = status{error_kind::cancelled, ""};
}

TEST_CASE("the error of a device that no task has names the tasks that did not answer") {
  master_world world;
  text_case gpu{"x = Neg(f32(1)) @\"/job:worker/task:1/gpu:3\"\nfetch x"};
  auto answer = world.ask<std::shared_ptr<prepared_step>>(
      world.master,
      *prepare_request::make(*gpu.nodes, signature_of(gpu.text.runs[0]), world.now() + 30s));
  world.run();
  CHECK(world.worker_0.listing.empty()); // the node does not name the task
  world.advance_and_run(11s);
  REQUIRE(*answer);
  INFO((**answer).status());
  CHECK((**answer).status().message().find("/job:worker/task:1") != std::string::npos);
  CHECK((**answer).status().message().find("did not answer in time") != std::string::npos);
}

TEST_CASE("a closed session answers the steps that are under way") {
  master_world world;
  world.prepare();
  auto answer = world.start();
  caf::anon_send_exit(world.master, caf::exit_reason::user_shutdown);
  world.run();
  CHECK(outcome_of(answer).kind() == error_kind::cancelled);
}

TEST_CASE("requests that wait for workers are answered when the session is closed") {
  master_world world;
  world.worker_1.registers_at_once = false;
  auto prepared = world.begin_prepare();
  auto devices = world.ask<std::vector<device_info>>(world.master, list_devices_atom::value);
  world.run();
  REQUIRE(world.worker_0.listing.size() == 1);
  CHECK(!*prepared);
  CHECK(!*devices);
  caf::anon_send_exit(world.master, caf::exit_reason::user_shutdown);
  world.run();
  REQUIRE(*prepared);
  CHECK((**prepared).status().kind() == error_kind::cancelled);
  REQUIRE(*devices);
  CHECK((**devices).status().kind() == error_kind::cancelled);
}

TEST_CASE("workers release a step that the client does not hold any more") {
  master_world world;
  world.prepare();
  world.run();
  CHECK(world.worker_0.dropped.empty());
  world.step.reset();
  world.run();
  CHECK(world.worker_0.dropped.size() == 1);
  CHECK(world.worker_1.dropped.size() == 1);
}

TEST_CASE("feeds that do not fit their placeholders reach no task") {
  master_world world;
  world.prepare();
  for (std::vector<tensor> feeds :
       {std::vector<tensor>{}, {tensor::scalar(1)}, {tensor::vector<float>({1, 2})}}) {
    auto answer =
        world.ask<step_outcome>(world.master, step_request{world.step, feeds, world.now() + 1s});
    world.run();
    CHECK(outcome_of(answer).kind() == error_kind::invalid_argument);
  }
  CHECK(world.worker_0.runs.empty());
}

TEST_CASE("a late answer of a task after the client has continued does no harm") {
  master_world world;
  world.prepare();
  auto answer = world.start(1s);
  world.advance_and_run(1s);
  world.advance_and_run(3s);
  CHECK(outcome_of(answer).kind() == error_kind::deadline_exceeded);
  world.answer(world.worker_0, {});
  world.answer(world.worker_1, fails(error_kind::internal, "late"));
  auto next = world.start();
  world.answer(world.worker_0, {});
  world.answer(world.worker_1, {});
  CHECK(outcome_of(next).ok());
}

TEST_CASE("steps that have ended leave no timers behind, however late their deadlines are") {
  master_world world;
  world.prepare();
  auto before = world.timers();
  for (int i = 0; i < 100; ++i) {
    auto answer = world.start(1h);
    world.answer(world.worker_0, {});
    world.answer(world.worker_1, {});
    CHECK(outcome_of(answer).ok());
  }
  CHECK(world.timers() <= before + 1);
}

TEST_CASE("steps with near deadlines leave no timers behind while another has a far one") {
  master_world world;
  world.prepare();
  auto long_answer = world.start(1h);
  auto before = world.timers();
  for (int i = 0; i < 100; ++i) {
    auto answer = world.start(5ms);
    world.answer(world.worker_0, {});
    world.answer(world.worker_1, {});
    CHECK(outcome_of(answer).ok());
    world.advance_and_run(5ms);
  }
  CHECK(world.timers() <= before + 1);
  CHECK(!*long_answer);
}

TEST_CASE("a step without a deadline is not overdue, and a failure of it ends it") {
  master_world world;
  world.prepare();
  auto answer = world.ask<step_outcome>(
      world.master,
      step_request{world.step, {tensor::scalar(1.0f)}, step_clock::time_point::max()});
  world.run();
  world.advance_and_run(48h);
  CHECK(!*answer);
  world.answer(world.worker_0, fails(error_kind::internal, "cause"));
  world.advance_and_run(3s);
  CHECK(outcome_of(answer).message().find("cause") != std::string::npos);
}

TEST_CASE("a step that is stopped ends when its tasks have stopped, or two seconds later") {
  master_world world;
  world.prepare();
  auto answers = GENERATE(true, false);
  std::stop_source stop;
  auto answer = world.start(1h, stop.get_token());
  world.answer(world.worker_0, {{}, {{0, tensor::scalar(3.0f)}}});
  stop.request_stop();
  world.run();
  CHECK(world.worker_0.cancels.empty());
  REQUIRE(world.worker_1.cancels.size() == 1);
  CHECK(!*answer);
  if (answers) {
    world.answer(world.worker_1, fails(error_kind::cancelled, "stopped"));
  } else {
    world.advance_and_run(1900ms);
    CHECK(!*answer);
    world.advance_and_run(200ms);
  }
  CHECK(outcome_of(answer).kind() == error_kind::cancelled);
  CHECK_THAT(outcome_of(answer).message(), Contains("the caller stopped the run"));
}

TEST_CASE(
    "a step that has run to its end is not stopped, and waits for late tasks as long as any step") {
  master_world world;
  world.prepare();
  auto answers = GENERATE(true, false);
  std::stop_source stop;
  auto answer = world.start(1h, stop.get_token());
  world.answer(world.worker_0, {{}, {{0, tensor::scalar(3.0f)}}});
  world.answer(world.worker_1, {{}, {{1, tensor::scalar(2.0f)}}, {}, true});
  REQUIRE(world.worker_1.settling.size() == 1);
  stop.request_stop();
  world.run();
  CHECK(world.worker_1.cancels.empty());
  CHECK(!*answer);
  if (answers) {
    world.act_as(world.worker_1, [&] { world.worker_1.settling.back().deliver(status{}); });
    CHECK(outcome_of(answer).ok());
  } else {
    world.advance_and_run(2100ms);
    CHECK(outcome_of(answer).kind() == error_kind::cancelled);
    CHECK_THAT(outcome_of(answer).message(), Contains("may be consumed"));
  }
}

TEST_CASE("stopped steps leave nothing behind, however late their deadlines are") {
  master_world world;
  world.prepare();
  auto before = world.timers();
  std::weak_ptr<prepared_step> weak_step = world.step;
  for (int i = 0; i < 100; ++i) {
    std::stop_source stop;
    auto answer = world.start(1h, stop.get_token());
    stop.request_stop();
    world.run();
    world.answer(world.worker_0, {});
    world.answer(world.worker_1, {});
    CHECK(outcome_of(answer).kind() == error_kind::cancelled);
  }
  CHECK(world.timers() <= before + 1);
  world.step.reset();
  CHECK(weak_step.expired());
}

} // namespace troupe::test::master_test
