#include "troupe/runtime/cluster/initialization_gate.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::initialization_gate_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

const std::string task = "/job:ps/task:0";

struct gate_world {
  status step(int client, bool initializes = false) {
    auto admitted = gate.admit(initializes, &peers[client], concat("client ", client), task, now);
    stage = admitted.stage;
    return std::move(admitted.outcome);
  }
  bool end(int client, bool succeeded = true) { return gate.end(&peers[client], succeeded); }

  initialization_gate gate;
  initialization_stage stage = initialization_stage::over; // the stage that the last step received
  initialization_gate::clock::time_point now{};
  int peers[3] = {};
};

} // namespace

TEST_CASE("an open gate lets all steps through") {
  gate_world world;
  CHECK(!world.gate.closed());
  CHECK(world.step(0));
  CHECK(world.step(1, true));
  CHECK(world.stage == initialization_stage::over);
  CHECK(!world.end(1));
  CHECK(world.gate.initializer().empty());
}

TEST_CASE(
    "one client initializes, the others learn its name, and all are admitted when it is done") {
  gate_world world;
  world.gate.await(world.now, 60s);
  auto early = world.step(0);
  CHECK(early.kind() == error_kind::unavailable);
  CHECK(world.stage == initialization_stage::awaited);
  CHECK_THAT(early.message(), Contains(task) && Contains("no session does so yet") &&
                                  Contains("session::initialize_tasks()"));
  CHECK(world.step(1, true));
  CHECK(world.step(1, true)); // any number of steps
  CHECK(world.stage == initialization_stage::by_requester);
  world.now += 7s;
  for (auto initializes : {false, true}) {
    auto refusal = world.step(2, initializes);
    CHECK(refusal.kind() == error_kind::unavailable);
    CHECK_THAT(refusal.message(), Contains("client 1 has been doing so for 7 s; try again"));
    CHECK(world.stage == initialization_stage::by_another);
  }
  CHECK(!world.step(1)); // its other steps wait as well
  CHECK(world.gate.initializer() == "client 1");
  CHECK(!world.end(2)); // client 2 has initialized nothing
  CHECK(world.gate.closed());
  CHECK(world.end(1));
  CHECK(!world.gate.closed());
  CHECK(world.step(0));
  CHECK(world.stage == initialization_stage::over);
  CHECK(!world.end(1)); // only the first end counts
}

TEST_CASE("when a client gives up, the next one may initialize") {
  gate_world world;
  world.gate.await(world.now, 60s);
  CHECK(world.step(1, true));
  CHECK(!world.end(1, false));
  CHECK(world.gate.closed());
  CHECK_THAT(world.step(0).message(), Contains("no session does so yet"));
  CHECK(world.step(2, true));
  CHECK(!world.step(1, true));
  CHECK(world.end(2));
}

TEST_CASE("a client that arrives after the timeout may initialize the task at once") {
  gate_world world;
  world.gate.await(world.now, 60s);
  world.now += 60s;
  auto late = world.step(0);
  CHECK(late.kind() == error_kind::failed_precondition);
  CHECK_THAT(late.message(), Contains("no session has done so within 60 s"));
  CHECK(world.stage == initialization_stage::awaited);
  CHECK(world.step(1, true));
  CHECK(world.step(0).kind() == error_kind::failed_precondition);
  CHECK(world.step(2, true).kind() == error_kind::unavailable); // it may become the initializer
  CHECK(world.end(1));
  CHECK(world.step(0));
}

} // namespace troupe::test::initialization_gate_test
