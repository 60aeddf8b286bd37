#include "tests/support/joined_world.hpp"

#include <set>

namespace troupe::test::joined_cluster_test {

TEST_CASE("a coordinator that has just started asks others what they know, and then tells all") {
  joined_world world;
  world.start(first, 1000, "h:10");
  auto& member = world.meet(zero, 5);
  auto asked = member.all<member_changes>();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].epoch == list_epoch{}); // as if it knew nothing: all is sent
  world.say(member, list_of(900, {{zero, 5, "h:5"}, {one, 6, "h:6"}}));
  auto& client = world.meet({}, 7);
  world.say(client, member_changes{});
  CHECK(world.learned.empty());
  world.pass_and_tick(2s);
  REQUIRE(world.learned.size() == 1);
  CHECK(world.learned[0].tasks ==
        std::map<task_name, std::string>{{first, "h:10"}, {one, "h:6"}, {zero, "h:5"}});
  for (auto* each : {&member, &client}) {
    auto told = each->all<member_changes>();
    REQUIRE(told.size() == 2);
    CHECK(told[1].epoch.term == 1000);
    CHECK(told[1].members.size() == 3);
  }
}

TEST_CASE("a coordinator answers claims, and tells of tasks that leave") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.pass_and_tick(2s);
  auto& joiner = world.meet({}, 5);
  world.say(joiner, number_claim{"worker", -1, 5, "h:5"});
  world.say(joiner, number_claim{"a job", -1, 5, "h:5"});
  world.say(joiner, number_claim{"worker", -1, 5, "nowhere"});
  auto grants = joiner.all<number_grant>();
  REQUIRE(grants.size() == 3);
  CHECK(grants[0].task == zero);
  CHECK(grants[1].outcome.kind() == error_kind::invalid_argument);
  CHECK(grants[2].outcome.kind() == error_kind::invalid_argument);
  auto& task = world.meet(zero, 5);
  CHECK(world.learned.back().tasks.contains(zero));
  world.lose(task, error_kind::unavailable, true);
  CHECK(!world.learned.back().tasks.contains(zero));
}

TEST_CASE("who looks is shown each list once, with those that are unreachable, gone or have left") {
  joined_world world;
  world.start(first, 1000, "h:10");
  auto& member = world.meet(zero, 5);
  CHECK(world.shown.empty());
  world.pass_and_tick(2s);
  world.say(member, number_claim{"worker", 0, 5, "h:5", true});
  auto& other = world.meet(one, 6);
  world.say(other, number_claim{"worker", 1, 6, "h:6", true});
  world.pass_and_tick(2s);
  REQUIRE(world.shown.size() == 3);
  CHECK(world.shown[0].members().size() == 1);
  CHECK(world.shown[2].find(one)->state == presence::here);
  world.lose(member);
  world.lose(other, error_kind::unavailable, true);
  world.pass_and_tick(2s);
  REQUIRE(world.shown.size() == 5);
  CHECK(world.shown[4].find(zero)->state == presence::unreachable);
  CHECK(world.shown[4].find(one)->state == presence::left);
  CHECK(world.shown[4].epoch().change == world.shown[2].epoch().change + 2);
}

TEST_CASE(
    "a task says who it is when it reaches the first seed, and when the list says otherwise") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  REQUIRE(other.all<number_claim>().size() == 1);
  CHECK(other.all<number_claim>()[0].holds);
  world.say(other, list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}}));
  CHECK(other.all<number_claim>().size() == 1);
  CHECK(world.learned.back().tasks.size() == 2);
  world.say(other, list_of(1001, {{first, 1001, "h:10"}}));
  CHECK(other.all<number_claim>().size() == 2);
  world.say(other, number_grant{{}, zero, 5});
  CHECK(world.failed.empty());
}

TEST_CASE("a task whose number is another's ends, however it is told") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  SECTION("by the list") {
    world.say(other, list_of(1000, {{first, 1000, "h:10"}, {zero, 6, "h:6"}}));
  }
  SECTION("by the answer to its claim") {
    world.say(other, number_grant{failure(error_kind::failed_precondition, "replaced"), zero, 6});
  }
  SECTION("by being refused when it calls") { world.lose(other, error_kind::failed_precondition); }
  REQUIRE(world.failed.size() == 1);
  CHECK(world.failed[0].kind() == error_kind::failed_precondition);
}

TEST_CASE("the first seed may be away, or not ready: that ends no task") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  world.say(other, number_grant{failure(error_kind::unavailable, "not yet"), {}, 0});
  world.lose(other);
  auto& second = world.meet(task_name{"ps", 1}, 1001);
  world.lose(second, error_kind::failed_precondition);
  CHECK(world.failed.empty());
}

TEST_CASE("who is no task changes no list and no number, whatever it says that it knows") {
  joined_world world;
  const member_changes nobody{{0, 0}, {UINT64_MAX - 1, 1}, {}};
  SECTION("of a task") {
    world.start(zero, 5, "h:5");
    auto& coordinator = world.meet(first, 1000, true);
    world.say(coordinator, list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}}));
    REQUIRE(world.learned.size() == 1);
    auto& client = world.meet({}, 7);
    auto heard = coordinator.heard.size();
    world.say(client, nobody);
    world.say(client, number_grant{failure(error_kind::failed_precondition, "end"), zero, 6});
    world.say(world.meet(one, 6), // a task that was not asked
              number_grant{failure(error_kind::failed_precondition, "end"), zero, 6});
    CHECK(world.learned.size() == 1);
    CHECK(coordinator.heard.size() == heard);
    // No coordinator follows the last term that there could be, also not where a task says it.
    world.say(coordinator, member_changes{{0, 0}, {UINT64_MAX, 1}, {}});
    CHECK(world.learned.size() == 1);
    auto longer = list_of(1001, {{first, 1001, "h:10"}, {zero, 5, "h:5"}, {one, 6, "h:6"}});
    world.say(coordinator, longer);
    CHECK(world.learned.back().tasks.size() == 3);
  }
  SECTION("of a coordinator") {
    world.start(first, 1000, "h:10");
    world.pass_and_tick(2s);
    auto& client = world.meet({}, 7);
    world.say(client, nobody);
    world.say(client, list_of(2000, {{one, 6, "h:6"}}));
    CHECK(world.learned.size() == 1);
  }
  CHECK(world.failed.empty());
}

TEST_CASE("a list with a member that cannot be one is no list") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  world.say(other, list_of(1000, {{first, 1000, "h:10"}, {{"a job", 0}, 5, "h:5"}}));
  world.say(other, list_of(1000, {{first, 1000, "h:10"}, {one, 5, "nowhere"}}));
  world.say(other, list_of(1000, {{first, 1000, "h:10"}, {one, 5, std::string(600, 'h') + ":1"}}));
  CHECK(world.learned.empty());
}

TEST_CASE("members pass on what they hear, and a stranger is no member") {
  joined_world world;
  world.start({}, 7, {}); // a client
  auto& ahead = world.meet(first, 1000);
  auto& behind = world.meet(one, 6);
  world.say(behind, member_changes{});
  CHECK(behind.all<member_changes>().size() == 1);
  world.say(ahead, list_of(1000, {{first, 1000, "h:10"}, {one, 6, "h:6"}}));
  REQUIRE(behind.all<member_changes>().size() == 2);
  CHECK(behind.all<member_changes>()[1].members.size() == 2);
  CHECK(ahead.all<member_changes>().size() == 1);
  CHECK(ahead.all<number_claim>().empty());
  CHECK(!world.joined->take({ping{}, ahead.exchange, ahead.via}));
  CHECK(!world.joined->take({member_changes{}, {}, std::make_shared<peer_connection>()}));
  // No task but the coordinator gives out numbers.
  world.say(behind, number_claim{"worker", -1, 8, "h:8"});
  CHECK(behind.all<number_grant>()[0].outcome.kind() == error_kind::unavailable);
}

TEST_CASE("a coordinator asks other members about one that it does not hear") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.pass_and_tick(2s);
  auto& joiner = world.meet({}, 5);
  world.say(joiner, number_claim{"worker", -1, 5, "h:5"});
  world.say(joiner, number_claim{"worker", -1, 6, "h:6"});
  auto& there = world.meet(zero, 5);
  auto& away = world.meet(one, 6);
  world.lose(away);
  world.pass_and_tick(1500ms);
  auto asked = there.all<probe_request>();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].task == one);
  CHECK(asked[0].incarnation == 6);
  CHECK(joiner.all<probe_request>().empty());
  world.say(there, probe_answer{one, 6, true});
  world.pass_and_tick(35s);
  CHECK(world.learned.back().tasks.contains(one));
  world.say(there, probe_answer{one, 6, false});
  world.pass_and_tick(500ms);
  CHECK(!world.learned.back().tasks.contains(one));
}

TEST_CASE("a member that is asked looks, and says what it found, unless it was late itself") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  world.say(other, list_of(1000, {{zero, 5, "h:5"}, {one, 6, "h:6", presence::unreachable}}));
  world.say(other, probe_request{one, 7}); // of which it knows nothing
  CHECK(world.probed.empty());
  for (auto found : {6u, 0u, 7u}) {
    world.joined->tick();
    world.say(other, probe_request{one, 6});
    REQUIRE(world.probed.size() == 1);
    CHECK(world.probed[0].first == one);
    world.probed[0].second(found);
    world.probed.clear();
    world.run();
    auto said = other.all<probe_answer>();
    REQUIRE(!said.empty());
    CHECK(said.back().reached == (found == 6));
  }
  CHECK(other.all<probe_answer>().size() == 3);
  world.say(other, probe_request{one, 6});
  world.advance(5s); // it stood still, and cannot have heard anything
  world.probed[0].second(0);
  world.run();
  CHECK(other.all<probe_answer>().size() == 3);
  world.joined->tick();
  world.say(other, probe_request{one, 6});
  world.advance(5s);
  world.joined->tick();
  world.probed[1].second(0);
  world.run();
  CHECK(other.all<probe_answer>().size() == 3);
}

TEST_CASE("a member is not asked more than it can do at once") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  world.say(other, list_of(1000, {{zero, 5, "h:5"}, {one, 6, "h:6"}}));
  for (int i = 0; i < 100; ++i)
    world.say(other, probe_request{one, 6});
  CHECK(world.probed.size() == 16);
}

TEST_CASE("who has a connection to a member that is said to be gone objects") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  world.meet(one, 6);
  auto gone = cluster_member{one, 6, "h:6", presence::gone};
  world.say(other, list_of(1000, {{zero, 5, "h:5"}, gone}));
  REQUIRE(other.all<probe_answer>().size() == 1);
  CHECK(other.all<probe_answer>()[0].task == one);
  CHECK(other.all<probe_answer>()[0].reached);
  gone.incarnation = 7; // another one
  world.say(other, list_of(1001, {{zero, 5, "h:5"}, gone}));
  CHECK(other.all<probe_answer>().size() == 1);
}

TEST_CASE("who is asked for a number and does not decide says where to ask") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  world.say(other, list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}}, first));
  auto& joiner = world.meet({}, 8);
  world.say(joiner, number_claim{"worker", -1, 8, "h:8"});
  auto grants = joiner.all<number_grant>();
  REQUIRE(grants.size() == 1);
  CHECK(grants[0].outcome.kind() == error_kind::unavailable);
  CHECK(grants[0].ask == "h:10");
  CHECK(world.kept == std::vector<std::string>{"h:10"});
}

TEST_CASE("a coordinator calls members that are not connected to it") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.pass_and_tick(2s);
  auto& joiner = world.meet({}, 5);
  world.say(joiner, number_claim{"worker", -1, 5, "h:5"});
  world.pass_and_tick(7s);
  REQUIRE(!world.probed.empty());
  CHECK(world.probed[0].first == zero);
}

TEST_CASE("a coordinator that cannot call all members at once calls them in turn") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.pass_and_tick(2s);
  auto& joiner = world.meet({}, 5);
  for (uint64_t i = 0; i < 40; ++i)
    world.say(joiner, number_claim{"worker", -1, 100 + i, concat("h:", 100 + i)});
  std::set<task_name> called;
  for (int i = 0; i < 5; ++i) {
    world.pass_and_tick(5s);
    auto calls = std::exchange(world.probed, {});
    CHECK(calls.size() <= 16);
    for (auto& [task, then] : calls) {
      called.insert(task);
      then(0); // it is not reached
    }
  }
  CHECK(called.size() == 40);
}

} // namespace troupe::test::joined_cluster_test
