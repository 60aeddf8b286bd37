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
  answer_box<step_outcome> start(std::chrono::milliseconds timeout = 1s,
                                 const std::stop_token& stop = {}) {
    step_request what{step, {tensor::scalar(1.0f)}, now() + timeout};
    what.stop = stop;
    auto box = ask<step_outcome>(master, std::move(what));
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

step_result fails(error_kind kind, const char* text) { return {failure(kind, text), {}}; }

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

TEST_CASE("a step that a task cannot run any more is registered again before it begins") {
  master_world world;
  world.prepare();
  auto tell = [&](uint64_t handle) {
    caf::anon_send(world.master, part_lost{{"worker", 0}, handle});
    world.run();
  };
  auto first = world.zero.handles, other = world.one.handles;
  tell(first + 1); // of another step, or of none
  auto box = world.start();
  REQUIRE(world.zero.runs.size() == 1);
  CHECK(world.zero.runs[0].first.handle == first);
  world.answer(world.zero, {});
  world.answer(world.one, {});
  CHECK(outcome_of(box).ok());
  tell(first);
  auto again = world.start();
  REQUIRE(world.zero.runs.size() == 1);
  CHECK(world.zero.runs[0].first.handle == first + 1);
  CHECK(world.one.runs[0].first.handle == other + 1); // which hears from it
  world.answer(world.zero, {});
  world.answer(world.one, {});
  CHECK(outcome_of(again).ok());
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
  CHECK((**box).status().message().find("did not answer in time") != std::string::npos);
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

TEST_CASE("steps with near deadlines leave no timers behind while another has a far one") {
  master_world world;
  world.prepare();
  auto far = world.start(1h);
  auto before = world.timers();
  for (int i = 0; i < 100; ++i) {
    auto box = world.start(5ms);
    world.answer(world.zero, {});
    world.answer(world.one, {});
    CHECK(outcome_of(box).ok());
    world.pass(5ms);
  }
  CHECK(world.timers() <= before + 1);
  CHECK(!*far);
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

TEST_CASE("a step that is stopped ends when its tasks have stopped, or two seconds later") {
  master_world world;
  world.prepare();
  auto answers = GENERATE(true, false);
  std::stop_source stop;
  auto box = world.start(1h, stop.get_token());
  world.answer(world.zero, {{}, {{0, tensor::scalar(3.0f)}}});
  stop.request_stop();
  world.run();
  CHECK(world.zero.cancels.empty());
  REQUIRE(world.one.cancels.size() == 1);
  CHECK(!*box);
  if (answers) {
    world.answer(world.one, fails(error_kind::cancelled, "stopped"));
  } else {
    world.pass(1900ms);
    CHECK(!*box);
    world.pass(200ms);
  }
  CHECK(outcome_of(box).kind() == error_kind::cancelled);
  CHECK_THAT(outcome_of(box).message(), Contains("the caller stopped the run"));
}

TEST_CASE("a step that has run to its end is not stopped, nor waited for longer than others") {
  master_world world;
  world.prepare();
  auto answers = GENERATE(true, false);
  std::stop_source stop;
  auto box = world.start(1h, stop.get_token());
  world.answer(world.zero, {{}, {{0, tensor::scalar(3.0f)}}});
  world.answer(world.one, {{}, {{1, tensor::scalar(2.0f)}}, {}, true});
  REQUIRE(world.one.settling.size() == 1);
  stop.request_stop();
  world.run();
  CHECK(world.one.cancels.empty());
  CHECK(!*box);
  if (answers) {
    world.act(world.one, [&] { world.one.settling.back().deliver(status{}); });
    CHECK(outcome_of(box).ok());
  } else {
    world.pass(2100ms);
    CHECK(outcome_of(box).kind() == error_kind::cancelled);
    CHECK_THAT(outcome_of(box).message(), Contains("may be spent"));
  }
}

TEST_CASE("steps that were stopped leave nothing behind, however late their deadlines are") {
  master_world world;
  world.prepare();
  auto before = world.timers();
  std::weak_ptr<prepared_step> kept = world.step;
  for (int i = 0; i < 100; ++i) {
    std::stop_source stop;
    auto box = world.start(1h, stop.get_token());
    stop.request_stop();
    world.run();
    world.answer(world.zero, {});
    world.answer(world.one, {});
    CHECK(outcome_of(box).kind() == error_kind::cancelled);
  }
  CHECK(world.timers() <= before + 1);
  world.step.reset();
  CHECK(kept.expired());
}

} // namespace troupe::test::master_test
