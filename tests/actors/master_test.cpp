#include "troupe/actors/master.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/prepared_step.hpp"

#include <set>

namespace troupe::test::master_test {

using namespace std::chrono_literals;

namespace {

// What a worker was told, and the answers that it owes.
struct fake_worker {
  std::vector<caf::typed_response_promise<registered>> registering;
  std::vector<std::pair<run_request, caf::typed_response_promise<step_result>>> runs;
  std::vector<cancel_step> cancels;
  std::vector<uint64_t> dropped;
  std::vector<caf::typed_response_promise<std::vector<device_info>>> listing;
  uint64_t handles = 0;
  bool registers_at_once = true;
};

caf::behavior fake_behavior(caf::event_based_actor* self, fake_worker* log) {
  return {
      [=](const register_request&) -> caf::result<registered> {
        if (log->registers_at_once)
          return registered{++log->handles, nullptr};
        auto promise = self->make_response_promise<registered>();
        log->registering.push_back(promise);
        return promise;
      },
      [=](const wire_registration&) {
        return registered{++log->handles, nullptr};
      },
      [=](run_request& what) -> caf::result<step_result> {
        auto promise = self->make_response_promise<step_result>();
        log->runs.emplace_back(std::move(what), promise);
        return promise;
      },
      [](const deed& what) { what.act(); },
      [=](list_devices_atom) -> caf::result<std::vector<device_info>> {
        auto promise = self->make_response_promise<std::vector<device_info>>();
        log->listing.push_back(promise);
        return promise;
      },
      [=](const outgoing& what) {
        if (auto* cancel = std::get_if<cancel_step>(&what.content))
          log->cancels.push_back(*cancel);
      },
      [=](const forget_program& what) { log->dropped.push_back(what.handle); },
  };
}

struct master_world : actor_world {
  fake_worker zero, one;
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
    workers[0] = system().spawn(fake_behavior, &zero);
    workers[1] = system().spawn(fake_behavior, &one);
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
    zero = one = {};
    master = workers[0] = workers[1] = nullptr;
    run();
  }

  answer_box<std::shared_ptr<prepared_step>> begin_prepare() {
    auto box = ask<std::shared_ptr<prepared_step>>(
        master, *prepare_request::make(*text.nodes, signature_of(text.text.runs[0]), now() + 1s));
    run();
    return box;
  }
  void prepare() { step = ***begin_prepare(); }
  answer_box<step_outcome> start(std::chrono::milliseconds timeout = 1s) {
    auto box =
        ask<step_outcome>(master, step_request{step, {tensor::scalar(1.0f)}, now() + timeout});
    run();
    return box;
  }
  void act(fake_worker& who, std::function<void()> what) {
    caf::anon_send(workers[&who == &one], deed{std::move(what)});
    run();
  }
  void answer(fake_worker& who, step_result with) {
    REQUIRE(!who.runs.empty());
    auto promise = who.runs.back().second;
    who.runs.pop_back();
    act(who, [=]() mutable { promise.deliver(with); });
  }
};

// A parameter server in another process, whose incarnations a test counts, and a session that has
// lost state restored.
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

  restarting_world() {
    exchange = system().spawn(fake_behavior, &server);
    membership = system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      return {[](watch_atom) {}, [](const deed& what) { what.act(); },
              [=, this](const connect_request& what) -> caf::result<peer_link> {
                if (is_there)
                  return peer_link{what.to, incarnation, exchange};
                auto promise = self->make_response_promise<peer_link>();
                looking.emplace_back(what.to, promise);
                return promise;
              }};
    });
    master = spawn_master(
        system(),
        {.session = uint64_t{7} << 40,
         .container = {},
         .devices = {{"ps", 0, "cpu", 0}},
         .workers = {},
         .membership = membership,
         .lost_state = {
             .lose =
                 [this](const std::string& task) {
                   ++losses;
                   return unrestored.insert(task).second;
                 },
             .awaits = [this](const std::string& task) { return unrestored.contains(task); },
         }});
    run();
    for (size_t i = 0; i < 3; ++i) {
      auto box = ask<std::shared_ptr<prepared_step>>(
          master, *prepare_request::make(*text.nodes, signature_of(text.text.runs[i]), now() + 1s));
      run();
      steps.push_back(***box);
    }
  }
  ~restarting_world() {
    steps.clear();
    for (auto& one : {master, membership, exchange})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
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
  answer_box<step_outcome> start(size_t which, bool restores = false) {
    auto box = ask<step_outcome>(master, step_request{steps[which], {}, now() + 10s, {}, restores});
    run();
    return box;
  }
  // Answers what has come to the server.
  error_kind end_of(const answer_box<step_outcome>& box) {
    for (auto& [what, promise] : std::exchange(server.runs, {})) {
      caf::anon_send(exchange, deed{[promise = promise]() mutable {
                       promise.deliver(step_result{{}, {{0, tensor::scalar(1.0f)}}});
                     }});
      run();
    }
    if (!*box)
      return error_kind::internal;
    return (**box ? (**box)->outcome : (**box).status()).kind();
  }
  error_kind outcome(size_t which, bool restores = false) { return end_of(start(which, restores)); }
};

// Two parameter servers in other processes, and a session that has nothing restored.
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
      return {[](watch_atom) {},
              [this](const connect_request& what) {
                auto which = static_cast<size_t>(what.to.task);
                return peer_link{what.to, incarnations[which], exchanges[which]};
              }};
    });
    master = spawn_master(system(), {.session = uint64_t{7} << 40,
                                     .container = {},
                                     .devices = {{"ps", 0, "cpu", 0}, {"ps", 1, "cpu", 0}},
                                     .workers = {},
                                     .membership = membership});
    run();
    for (const auto& one : text.text.runs) {
      auto box = ask<std::shared_ptr<prepared_step>>(
          master, *prepare_request::make(*text.nodes, signature_of(one), now() + 1s));
      run();
      steps.push_back(***box);
    }
  }
  ~two_servers_world() {
    steps.clear();
    for (auto* one : {&master, &membership, &exchanges[0], &exchanges[1]})
      caf::anon_send_exit(*one, caf::exit_reason::user_shutdown);
    for (size_t i = 0; i < 2; ++i) {
      servers[i] = {};
      exchanges[i] = nullptr;
    }
    master = membership = nullptr;
    run();
  }

  answer_box<step_outcome> start(size_t which) {
    auto box = ask<step_outcome>(master, step_request{steps[which], {}, now() + 10s, {}, false});
    run();
    return box;
  }
  void answer(size_t server, status how) {
    REQUIRE(servers[server].runs.size() == 1);
    auto promise = servers[server].runs.back().second;
    servers[server].runs.clear();
    caf::anon_send(exchanges[server], deed{[=, how = std::move(how)]() mutable {
                     promise.deliver(step_result{how, {{0, tensor::scalar(0)}}});
                   }});
    run();
  }
};

step_result fails(error_kind kind, const char* text) { return {failure(kind, text), {}}; }

status outcome_of(const answer_box<step_outcome>& box) {
  REQUIRE(*box);
  return **box ? (**box)->outcome : (**box).status();
}

} // namespace

TEST_CASE("a master that compiles late needs nothing of the graph") {
  master_world world;
  auto box = world.ask<std::shared_ptr<prepared_step>>(
      world.master, *prepare_request::make(*world.text.nodes, signature_of(world.text.text.runs[0]),
                                           world.now() + 1s));
  world.text.nodes.reset(); // whoever asked has given up
  world.run();
  REQUIRE(*box);
  CHECK(box->value());
}

TEST_CASE("a step's fetches come from all its tasks, and feeds go where they are used") {
  master_world world;
  world.prepare();
  auto box = world.start();
  REQUIRE(world.zero.runs.size() == 1);
  REQUIRE(world.one.runs.size() == 1);
  CHECK(world.zero.runs[0].first.feeds.size() == 1);
  CHECK(world.one.runs[0].first.feeds.empty());
  CHECK(world.zero.runs[0].first.step == world.one.runs[0].first.step);
  world.answer(world.one, {{}, {{1, tensor::scalar(2.0f)}}});
  CHECK(!*box);
  world.answer(world.zero, {{}, {{0, tensor::scalar(3.0f)}}});
  REQUIRE(outcome_of(box).ok());
  CHECK(*(**box)->fetches.at(0).data<float>() == 3.0f);
  CHECK(*(**box)->fetches.at(1).data<float>() == 2.0f);
  world.pass(10s);
  CHECK(world.zero.cancels.empty());
}

TEST_CASE("the deadline's error names the tasks that are silent, and stops them") {
  master_world world;
  world.prepare();
  auto box = world.start(1s);
  world.answer(world.zero, {{}, {{0, tensor::scalar(3.0f)}}});
  world.pass(990ms);
  CHECK(world.one.cancels.empty());
  world.pass(20ms);
  REQUIRE(world.one.cancels.size() == 1);
  CHECK(world.zero.cancels.empty());
  CHECK(!*box); // it may still stop in good order
  world.pass(60ms);
  auto why = outcome_of(box);
  CHECK(why.kind() == error_kind::deadline_exceeded);
  CHECK(why.message().find("/job:worker/task:1") != std::string::npos);
  CHECK(why.message().find("/job:worker/task:0") == std::string::npos);
}

TEST_CASE("a step that stops at its deadline answers as soon as all tasks have stopped") {
  master_world world;
  world.prepare();
  auto box = world.start(1s);
  world.pass(1010ms);
  world.answer(world.zero, fails(error_kind::deadline_exceeded, "stopped"));
  CHECK(!*box);
  world.answer(world.one, fails(error_kind::deadline_exceeded, "stopped"));
  CHECK(outcome_of(box).message().find("was not done in time") != std::string::npos);
}

TEST_CASE("the first cause of a failure wins over its echoes") {
  master_world world;
  world.prepare();
  auto box = world.start();
  world.answer(world.one, fails(error_kind::invalid_argument, "the cause"));
  REQUIRE(world.zero.cancels.size() == 1);
  CHECK(world.zero.cancels[0].why.message() == "the cause");
  CHECK(!*box);
  world.answer(world.zero, fails(error_kind::cancelled, "the echo"));
  CHECK(outcome_of(box).message() == "the cause");
}

TEST_CASE("a step that lost a task is registered again, once for all who run it") {
  master_world world;
  world.prepare();
  auto box = world.start();
  auto old = world.zero.handles;
  world.answer(world.one, fails(error_kind::unavailable, "gone"));
  world.answer(world.zero, fails(error_kind::cancelled, "echo"));
  CHECK(outcome_of(box).kind() == error_kind::unavailable);
  world.zero.registers_at_once = false;
  auto first = world.start(), second = world.start(), third = world.start();
  CHECK(world.zero.dropped == std::vector<uint64_t>{old});
  REQUIRE(world.zero.registering.size() == 1);
  world.act(world.zero, [&] { world.zero.registering[0].deliver(registered{77, nullptr}); });
  REQUIRE(world.zero.runs.size() == 3);
  for (const auto& [request, promise] : world.zero.runs)
    CHECK(request.handle == 77);
  for (int i = 0; i < 3; ++i) {
    world.answer(world.zero, {});
    world.answer(world.one, {});
  }
  CHECK(outcome_of(first).ok());
  CHECK(outcome_of(second).ok());
  CHECK(outcome_of(third).ok());
}

TEST_CASE("a task that does not register a step in time is named") {
  master_world world;
  world.one.registers_at_once = false;
  auto box = world.begin_prepare();
  CHECK(!*box);
  world.pass(1100ms);
  REQUIRE(*box);
  CHECK((**box).status().kind() == error_kind::deadline_exceeded);
  CHECK((**box).status().message().find("/job:worker/task:1") != std::string::npos);
}

TEST_CASE("who waits for a step to be registered again waits as long as they said") {
  master_world world;
  world.prepare();
  auto box = world.start();
  world.answer(world.one, fails(error_kind::unavailable, "gone"));
  world.answer(world.zero, fails(error_kind::cancelled, "echo"));
  world.one.registers_at_once = false;
  auto hasty = world.start(100ms), patient = world.start(10s);
  world.pass(200ms);
  CHECK(outcome_of(hasty).kind() == error_kind::deadline_exceeded);
  CHECK(outcome_of(hasty).message().find("/job:worker/task:1 did not register") !=
        std::string::npos);
  CHECK(!*patient);
  REQUIRE(world.one.registering.size() == 1);
  world.act(world.one, [&] { world.one.registering[0].deliver(registered{5, nullptr}); });
  REQUIRE(world.one.runs.size() == 1);
  world.answer(world.zero, {});
  world.answer(world.one, {});
  CHECK(outcome_of(patient).ok());
}

TEST_CASE("what a task registers when nobody waits any more is forgotten") {
  master_world world;
  world.one.registers_at_once = false;
  auto box = world.begin_prepare();
  world.pass(1100ms);
  REQUIRE(*box);
  CHECK(world.one.dropped.empty());
  world.act(world.one, [&] { world.one.registering[0].deliver(registered{42, nullptr}); });
  CHECK(world.one.dropped == std::vector<uint64_t>{42});
}

TEST_CASE("a task that is silent about its devices holds up no node that another task can run") {
  master_world world;
  text_case gpu{"x = Neg(f32(1)) @\"/gpu:0\"\nfetch x"};
  auto box = world.ask<std::shared_ptr<prepared_step>>(
      world.master,
      *prepare_request::make(*gpu.nodes, signature_of(gpu.text.runs[0]), world.now() + 30s));
  world.run();
  REQUIRE(world.zero.listing.size() == 1);
  REQUIRE(world.one.listing.size() == 1);
  world.act(world.one, [&] {
    world.one.listing[0].deliver(
        std::vector<device_info>{{"/job:worker/task:1/device:gpu:0", "gpu", 1, ""}});
  });
  world.pass(11s);
  REQUIRE(*box);
  INFO((**box).status());
  CHECK((**box).ok());
  CHECK(world.one.handles == 1);
  CHECK(world.zero.handles == 0);
  // What is known is not asked again; who was silent is.
  auto two = world.ask<std::shared_ptr<prepared_step>>(
      world.master,
      *prepare_request::make(*gpu.nodes, signature_of(gpu.text.runs[0]), world.now() + 30s));
  world.run();
  CHECK(world.one.listing.size() == 1);
  CHECK(world.zero.listing.size() == 1);
  REQUIRE(*two);
  *box = *two = status{error_kind::cancelled, ""};
}

TEST_CASE("the error of a device that no task has names the tasks that did not answer") {
  master_world world;
  text_case gpu{"x = Neg(f32(1)) @\"/job:worker/task:1/gpu:3\"\nfetch x"};
  auto box = world.ask<std::shared_ptr<prepared_step>>(
      world.master,
      *prepare_request::make(*gpu.nodes, signature_of(gpu.text.runs[0]), world.now() + 30s));
  world.run();
  CHECK(world.zero.listing.empty()); // the node does not name it
  world.pass(11s);
  REQUIRE(*box);
  INFO((**box).status());
  CHECK((**box).status().message().find("/job:worker/task:1") != std::string::npos);
  CHECK((**box).status().message().find("no answer in time") != std::string::npos);
}

TEST_CASE("a closed session answers the steps that are under way") {
  master_world world;
  world.prepare();
  auto box = world.start();
  caf::anon_send_exit(world.master, caf::exit_reason::user_shutdown);
  world.run();
  CHECK(outcome_of(box).kind() == error_kind::cancelled);
}

TEST_CASE("whoever waits for workers hears that the session is closed") {
  master_world world;
  world.one.registers_at_once = false;
  auto prepared = world.begin_prepare();
  auto devices = world.ask<std::vector<device_info>>(world.master, list_devices_atom::value);
  world.run();
  REQUIRE(world.zero.listing.size() == 1);
  CHECK(!*prepared);
  CHECK(!*devices);
  caf::anon_send_exit(world.master, caf::exit_reason::user_shutdown);
  world.run();
  REQUIRE(*prepared);
  CHECK((**prepared).status().kind() == error_kind::cancelled);
  REQUIRE(*devices);
  CHECK((**devices).status().kind() == error_kind::cancelled);
}

TEST_CASE("no step uses a restarted task before its state is restored, whoever found the loss") {
  restarting_world world;
  CHECK(world.outcome(0) == error_kind::ok);
  CHECK(world.outcome(1) == error_kind::ok);
  world.restart();
  CHECK(world.outcome(0) == error_kind::aborted);
  CHECK(world.losses == 1);
  CHECK(world.outcome(1) == error_kind::aborted);  // it would find an empty queue
  CHECK(world.outcome(2) == error_kind::ok);       // has nothing there
  CHECK(world.outcome(1, true) == error_kind::ok); // what restores goes through
  CHECK(world.outcome(1) == error_kind::aborted);  // though it is registered by now
  world.unrestored.clear();
  CHECK(world.outcome(0) == error_kind::ok);
  CHECK(world.outcome(1) == error_kind::ok);
  CHECK(world.losses == 1);
}

TEST_CASE("an error that names one lost task says nothing of another") {
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
  ++world.incarnations[1]; // it is lost, too, before anyone uses it
  caf::anon_send(world.master, link_lost{{"ps", 1}, failure(error_kind::unavailable, "gone")});
  world.run();
  auto third = world.start(1);
  CHECK(outcome_of(third).kind() == error_kind::aborted);
  CHECK_THAT(outcome_of(third).message(), Catch::Matchers::Contains("/job:ps/task:1 was restarted"));
  auto fourth = world.start(1);
  world.answer(1, {});
  CHECK(outcome_of(fourth).ok());
}

TEST_CASE("steps that wait for a task that comes back empty do not begin when one finds that") {
  restarting_world world;
  world.is_there = false;
  world.restart();
  auto first = world.start(0), second = world.start(1), third = world.start(2);
  auto restoring = world.start(1, true);
  REQUIRE(world.looking.size() == 3);
  for (auto& [task, promise] : std::exchange(world.looking, {})) {
    caf::anon_send(world.membership, deed{[&world, task = task, promise = promise]() mutable {
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

TEST_CASE("workers forget a step that nobody holds any more") {
  master_world world;
  world.prepare();
  world.run();
  CHECK(world.zero.dropped.empty());
  world.step.reset();
  world.run();
  CHECK(world.zero.dropped.size() == 1);
  CHECK(world.one.dropped.size() == 1);
}

TEST_CASE("feeds that do not fit their placeholders reach no task") {
  master_world world;
  world.prepare();
  for (std::vector<tensor> feeds :
       {std::vector<tensor>{}, {tensor::scalar(1)}, {tensor::vector<float>({1, 2})}}) {
    auto box =
        world.ask<step_outcome>(world.master, step_request{world.step, feeds, world.now() + 1s});
    world.run();
    CHECK(outcome_of(box).kind() == error_kind::invalid_argument);
  }
  CHECK(world.zero.runs.empty());
}

TEST_CASE("a task that answers after the client has gone on harms nobody") {
  master_world world;
  world.prepare();
  auto box = world.start(1s);
  world.pass(1s);
  world.pass(3s);
  CHECK(outcome_of(box).kind() == error_kind::deadline_exceeded);
  world.answer(world.zero, {});
  world.answer(world.one, fails(error_kind::internal, "late"));
  auto next = world.start();
  world.answer(world.zero, {});
  world.answer(world.one, {});
  CHECK(outcome_of(next).ok());
}

TEST_CASE("steps that have ended leave no timers behind, however late their deadlines are") {
  master_world world;
  world.prepare();
  auto before = world.timers();
  for (int i = 0; i < 100; ++i) {
    auto box = world.start(1h);
    world.answer(world.zero, {});
    world.answer(world.one, {});
    CHECK(outcome_of(box).ok());
  }
  CHECK(world.timers() <= before + 1);
}

TEST_CASE("a step without a deadline is not overdue, and a failure of it ends it") {
  master_world world;
  world.prepare();
  auto box = world.ask<step_outcome>(
      world.master,
      step_request{world.step, {tensor::scalar(1.0f)}, step_clock::time_point::max()});
  world.run();
  world.pass(48h);
  CHECK(!*box);
  world.answer(world.zero, fails(error_kind::internal, "cause"));
  world.pass(3s);
  CHECK(outcome_of(box).message().find("cause") != std::string::npos);
}

} // namespace troupe::test::master_test
