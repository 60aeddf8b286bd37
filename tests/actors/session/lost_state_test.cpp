// Sessions and state that was lost with its task.
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_worker.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/session/master.hpp"
#include "troupe/actors/session/prepared_step.hpp"

#include <set>

namespace troupe::test::lost_state_test {

using namespace std::chrono_literals;

namespace {

// A parameter server in another process, whose incarnations the test counts, and a session that
// restores lost state.
struct restarting_world : actor_world {
  fake_worker server;
  caf::actor exchange, membership, master;
  uint64_t incarnation = 1;
  bool is_there = true;
  std::vector<std::pair<task_name, caf::typed_response_promise<peer_link>>> looking;
  std::set<std::string> unrestored;
  int losses = 0;
  text_case text{R"(
v = VariableV2 dtype=f32 shape=[] @"/job:ps/task:0"
q = FIFOQueue component_types=[f32] @"/job:ps/task:0"
n = QueueSize(q) @"/job:ps/task:0"
x = Neg(f32(1)) @"/job:ps/task:0"
fetch v
run
fetch n
run
fetch x
)"};
  std::vector<std::shared_ptr<prepared_step>> steps;

  explicit restarting_world(bool restores = true) {
    exchange = system().spawn(fake_behavior, &server);
    membership = system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      return {[](watch_atom) {}, [](const waits_report&) {},
              [](const actor_action& action) { action.act(); },
              [=, this](const connect_request& request) -> caf::result<peer_link> {
                if (is_there)
                  return peer_link{request.task, incarnation, exchange};
                auto promise = self->make_response_promise<peer_link>();
                looking.emplace_back(request.task, promise);
                return promise;
              }};
    });
    master = spawn_master(
        system(), {.session = uint64_t{7} << 40,
                   .container = {},
                   .devices = {{"ps", 0, "cpu", 0}},
                   .workers = {},
                   .membership = membership,
                   .lost_state = {
                       .on_state_lost =
                           [this, restores](const state_loss& loss) {
                             CHECK(loss.number == static_cast<uint64_t>(++losses));
                             return restores && unrestored.insert(loss.task).second;
                           },
                       .awaits_restore =
                           [this](const std::string& task) { return unrestored.contains(task); },
                   }});
    run();
    for (size_t i = 0; i < 3; ++i) {
      auto answer = ask<std::shared_ptr<prepared_step>>(
          master, *prepare_request::make(*text.nodes, signature_of(text.text.runs[i]), now() + 1s));
      run();
      steps.push_back(***answer);
    }
  }
  ~restarting_world() {
    steps.clear();
    for (auto& actor_handle : {master, membership, exchange})
      caf::anon_send_exit(actor_handle, caf::exit_reason::user_shutdown);
    server = {};
    looking.clear();
    master = membership = exchange = nullptr;
    run();
  }

  void restart() {
    ++incarnation;
    caf::anon_send(master, link_lost{{"ps", 0}, failure(error_kind::unavailable, "gone")});
    run();
  }
  awaited_answer<step_outcome> start(size_t step_index, uint64_t known_losses = 0,
                                     const std::stop_token& stop = {}) {
    step_request request{steps[step_index], {}, now() + 10s, {}, known_losses};
    request.stop = stop;
    auto answer = ask<step_outcome>(master, std::move(request));
    run();
    return answer;
  }
  // Answers the server's pending requests.
  error_kind end_of(const awaited_answer<step_outcome>& answer) {
    for (auto& [held_run, promise] : std::exchange(server.runs, {})) {
      caf::anon_send(exchange, actor_action{[promise = promise]() mutable {
                       promise.deliver(step_result{{}, {{0, tensor::scalar(1.0f)}}});
                     }});
      run();
    }
    if (!*answer)
      return error_kind::internal;
    return (**answer ? (**answer)->outcome : (**answer).status()).kind();
  }
  error_kind outcome(size_t step_index, uint64_t known_losses = 0) {
    return end_of(start(step_index, known_losses));
  }
};

// Two parameter servers in other processes, and a session that restores nothing.
struct two_servers_world : actor_world {
  fake_worker servers[2];
  uint64_t incarnations[2] = {1, 1};
  caf::actor exchanges[2], membership, master;
  text_case text{R"(
p = FIFOQueue component_types=[f32] @"/job:ps/task:0"
q = FIFOQueue component_types=[f32] @"/job:ps/task:1"
m = QueueSize(p) @"/job:ps/task:0"
n = QueueSize(q) @"/job:ps/task:1"
fetch m
fetch n
run
fetch n
)"};
  std::vector<std::shared_ptr<prepared_step>> steps;

  two_servers_world() {
    for (size_t i = 0; i < 2; ++i)
      exchanges[i] = system().spawn(fake_behavior, &servers[i]);
    membership = system().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[](watch_atom) {}, [](const waits_report&) {},
              [this](const connect_request& request) {
                auto task_index = static_cast<size_t>(request.task.task);
                return peer_link{request.task, incarnations[task_index], exchanges[task_index]};
              }};
    });
    master = spawn_master(system(), {.session = uint64_t{7} << 40,
                                     .container = {},
                                     .devices = {{"ps", 0, "cpu", 0}, {"ps", 1, "cpu", 0}},
                                     .workers = {},
                                     .membership = membership});
    run();
    for (const auto& text_run : text.text.runs) {
      auto pending = ask<std::shared_ptr<prepared_step>>(
          master, *prepare_request::make(*text.nodes, signature_of(text_run), now() + 1s));
      run();
      steps.push_back(***pending);
    }
  }
  ~two_servers_world() {
    steps.clear();
    for (auto* actor_handle : {&master, &membership, &exchanges[0], &exchanges[1]})
      caf::anon_send_exit(*actor_handle, caf::exit_reason::user_shutdown);
    for (size_t i = 0; i < 2; ++i) {
      servers[i] = {};
      exchanges[i] = nullptr;
    }
    master = membership = nullptr;
    run();
  }

  awaited_answer<step_outcome> start(size_t step_index, bool retried = false) {
    step_request request{steps[step_index], {}, now() + 10s};
    request.retried = retried;
    auto pending = ask<step_outcome>(master, std::move(request));
    run();
    return pending;
  }
  void answer(size_t server, status outcome) {
    REQUIRE(servers[server].runs.size() == 1);
    auto promise = servers[server].runs.back().second;
    servers[server].runs.clear();
    caf::anon_send(exchanges[server], actor_action{[=, outcome = std::move(outcome)]() mutable {
                     promise.deliver(step_result{outcome, {{0, tensor::scalar(0)}}});
                   }});
    run();
  }
};

} // namespace

TEST_CASE(
    "no step uses a restarted task before its state is restored, whichever step notices the loss") {
  restarting_world world;
  CHECK(world.outcome(0) == error_kind::ok);
  CHECK(world.outcome(1) == error_kind::ok);
  world.restart();
  CHECK(world.outcome(0) == error_kind::aborted);
  CHECK(world.losses == 1);
  CHECK(world.outcome(1) == error_kind::aborted);        // otherwise it would find an empty queue
  CHECK(world.outcome(2) == error_kind::ok);             // has no state on that task
  CHECK(world.outcome(1, all_losses) == error_kind::ok); // the step that restores is admitted
  CHECK(world.outcome(1) == error_kind::aborted);        // though it is registered by now
  world.unrestored.clear();
  CHECK(world.outcome(0) == error_kind::ok);
  CHECK(world.outcome(1) == error_kind::ok);
  CHECK(world.losses == 1);
}

TEST_CASE("a step that acknowledges a loss is admitted, until there is another loss") {
  restarting_world world;
  CHECK(world.outcome(0) == error_kind::ok);
  world.restart();
  CHECK(world.outcome(0) == error_kind::aborted);
  CHECK(world.outcome(0) == error_kind::aborted); // its client had asked before it was notified
  CHECK(world.outcome(0, 1) == error_kind::ok);
  world.unrestored.clear();
  world.restart();
  CHECK(world.outcome(0, 1) == error_kind::aborted);
  CHECK(world.losses == 2);
  CHECK(world.outcome(0, 1) == error_kind::aborted);
  CHECK(world.outcome(0, 2) == error_kind::ok);
}

TEST_CASE("an error that names one lost task does not acknowledge the loss of another") {
  two_servers_world world;
  auto first = world.start(0);
  world.answer(0, {});
  world.answer(1, {});
  CHECK(outcome_of(first).ok());
  // Task 1 lives, and answers that task 0 is lost.
  auto second = world.start(0);
  world.answer(1, failure(error_kind::unavailable, "/job:ps/task:0 is gone: it was killed"));
  world.answer(0, failure(error_kind::unavailable, "/job:ps/task:0 is gone: it was killed"));
  CHECK(outcome_of(second).kind() == error_kind::unavailable);
  ++world.incarnations[1]; // task 1 is lost, too, before its first use
  caf::anon_send(world.master, link_lost{{"ps", 1}, failure(error_kind::unavailable, "gone")});
  world.run();
  auto third = world.start(1);
  CHECK(outcome_of(third).kind() == error_kind::aborted);
  CHECK_THAT(outcome_of(third).message(),
             Catch::Matchers::Contains("/job:ps/task:1 was restarted"));
  auto fourth = world.start(1);
  world.answer(1, {});
  CHECK(outcome_of(fourth).ok());
}

TEST_CASE("an error that is retried reports no lost state to a caller") {
  for (auto retried : {false, true}) {
    CAPTURE(retried);
    two_servers_world world;
    auto first = world.start(1);
    world.answer(1, {});
    CHECK(outcome_of(first).ok());
    auto second = world.start(1, retried);
    world.answer(1, failure(error_kind::unavailable, "/job:ps/task:1 is gone: it was killed"));
    CHECK(outcome_of(second).kind() == error_kind::unavailable);
    ++world.incarnations[1];
    caf::anon_send(world.master, link_lost{{"ps", 1}, failure(error_kind::unavailable, "gone")});
    world.run();
    auto third = world.start(1, true);
    if (retried) { // it was notified of no loss so far
      CHECK(outcome_of(third).kind() == error_kind::aborted);
      CHECK(outcome_of(third).origin().state_lost);
      CHECK(outcome_of(third).origin().incarnation == 2);
      third = world.start(1, true);
    }
    world.answer(1, {});
    CHECK(outcome_of(third).ok());
  }
}

TEST_CASE(
    "steps that wait for a task do not begin when one of them finds the task without its state") {
  restarting_world world;
  world.is_there = false;
  world.restart();
  auto first = world.start(0), second = world.start(1), third = world.start(2);
  auto restoring = world.start(1, true);
  REQUIRE(world.looking.size() == 3);
  for (auto& [task, promise] : std::exchange(world.looking, {})) {
    caf::anon_send(world.membership,
                   actor_action{[&world, task = task, promise = promise]() mutable {
                     promise.deliver(peer_link{task, world.incarnation, world.exchange});
                   }});
    world.run();
  }
  CHECK(world.end_of(first) == error_kind::aborted);
  CHECK(world.end_of(second) == error_kind::aborted);
  CHECK(world.end_of(third) == error_kind::ok);
  CHECK(world.end_of(restoring) == error_kind::ok);
  CHECK(world.losses == 1);
}

TEST_CASE("a cancelled request does not consume the report that a task has lost its state") {
  auto comes_back = GENERATE(true, false);
  auto prepares = GENERATE(true, false);
  restarting_world world{false};
  CHECK(world.outcome(1) == error_kind::ok);
  world.is_there = false;
  world.restart();
  std::stop_source stop;
  awaited_answer<step_outcome> first;
  awaited_answer<std::shared_ptr<prepared_step>> other_step;
  if (prepares) {
    auto prepare = *prepare_request::make(*world.text.nodes, signature_of(world.text.text.runs[1]),
                                          world.now() + 10s);
    prepare.stop = stop.get_token();
    other_step = world.ask<std::shared_ptr<prepared_step>>(world.master, std::move(prepare));
    world.run();
  } else {
    first = world.start(1, 0, stop.get_token());
  }
  REQUIRE(world.looking.size() == 1);
  stop.request_stop();
  world.run();
  auto answer = prepares ? (**other_step).status() : outcome_of(first);
  CHECK(answer.kind() == error_kind::cancelled);
  for (auto& [task, promise] : std::exchange(world.looking, {})) {
    caf::anon_send(world.membership, actor_action{[&, task = task, promise = promise]() mutable {
                     if (comes_back)
                       promise.deliver(peer_link{task, world.incarnation, world.exchange});
                     else
                       promise.deliver(to_caf(failure(error_kind::unavailable, "it is away")));
                   }});
    world.run();
  }
  world.is_there = true;
  CHECK(world.outcome(1) == error_kind::aborted);
  CHECK(world.outcome(1) == error_kind::ok);
}

} // namespace troupe::test::lost_state_test
