#include "troupe/runtime/cluster/fill_gate.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::fill_gate_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

const std::string task = "/job:ps/task:0";

struct gate_world {
  status step(int who, bool fills = false) {
    auto may = gate.admit(fills, &peers[who], concat("client ", who), task, now);
    stage = may.stage;
    return std::move(may.outcome);
  }
  bool end(int who, bool done = true) { return gate.end(&peers[who], done); }

  fill_gate gate;
  fill_stage stage = fill_stage::over; // that the last step was told
  fill_gate::clock::time_point now{};
  int peers[3] = {};
};

} // namespace

TEST_CASE("a gate that nobody has closed lets all steps through") {
  gate_world it;
  CHECK(!it.gate.closed());
  CHECK(it.step(0));
  CHECK(it.step(1, true));
  CHECK(it.stage == fill_stage::over);
  CHECK(!it.end(1));
  CHECK(it.gate.filler().empty());
}

TEST_CASE("one fills, the others are told who, and all are let through when it has") {
  gate_world it;
  it.gate.await(it.now, 60s);
  auto early = it.step(0);
  CHECK(early.kind() == error_kind::unavailable);
  CHECK(it.stage == fill_stage::awaited);
  CHECK_THAT(early.message(),
             Contains(task) && Contains("no session does so yet") && Contains("session::fill()"));
  CHECK(it.step(1, true));
  CHECK(it.step(1, true)); // as many as it likes
  CHECK(it.stage == fill_stage::by_asker);
  it.now += 7s;
  for (auto fills : {false, true}) {
    auto other = it.step(2, fills);
    CHECK(other.kind() == error_kind::unavailable);
    CHECK_THAT(other.message(), Contains("client 1 has been doing so for 7 s; try again"));
    CHECK(it.stage == fill_stage::by_another);
  }
  CHECK(!it.step(1)); // what it does not fill with waits as well
  CHECK(it.gate.filler() == "client 1");
  CHECK(!it.end(2)); // it has filled nothing
  CHECK(it.gate.closed());
  CHECK(it.end(1));
  CHECK(!it.gate.closed());
  CHECK(it.step(0));
  CHECK(it.stage == fill_stage::over);
  CHECK(!it.end(1)); // once
}

TEST_CASE("where one gives up, the next may fill") {
  gate_world it;
  it.gate.await(it.now, 60s);
  CHECK(it.step(1, true));
  CHECK(!it.end(1, false));
  CHECK(it.gate.closed());
  CHECK_THAT(it.step(0).message(), Contains("no session does so yet"));
  CHECK(it.step(2, true));
  CHECK(!it.step(1, true));
  CHECK(it.end(2));
}

TEST_CASE("who comes when patience is over is not told to try again, and the task can be filled") {
  gate_world it;
  it.gate.await(it.now, 60s);
  it.now += 60s;
  auto late = it.step(0);
  CHECK(late.kind() == error_kind::failed_precondition);
  CHECK_THAT(late.message(), Contains("no session has done so within 60 s"));
  CHECK(it.stage == fill_stage::awaited);
  CHECK(it.step(1, true));
  CHECK(it.step(0).kind() == error_kind::failed_precondition);
  CHECK(it.step(2, true).kind() == error_kind::unavailable); // its turn may come
  CHECK(it.end(1));
  CHECK(it.step(0));
}

} // namespace troupe::test::fill_gate_test
