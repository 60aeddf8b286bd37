#include "tests/support/joined_world.hpp"

#include <set>

namespace troupe::test::joined_cluster_test {

TEST_CASE("a new coordinator asks others for their lists, and then informs all members") {
  joined_world world;
  world.start(first, 1000, "h:10");
  auto& member = world.meet(zero, 5);
  auto requests = member.all<member_changes>();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].epoch == list_epoch{}); // the epoch of an empty list: all members are sent
  world.say(member, list_of(900, {{zero, 5, "h:5"}, {one, 6, "h:6"}}));
  auto& client = world.meet({}, 7);
  world.say(client, member_changes{});
  CHECK(world.learned.empty());
  world.advance_and_tick(2s);
  REQUIRE(world.learned.size() == 1);
  CHECK(world.learned[0].tasks ==
        std::map<task_name, std::string>{{first, "h:10"}, {one, "h:6"}, {zero, "h:5"}});
  for (auto* peer : {&member, &client}) {
    auto announced = peer->all<member_changes>();
    REQUIRE(announced.size() == 2);
    CHECK(announced[1].epoch.term == 1000);
    CHECK(announced[1].members.size() == 3);
  }
}

TEST_CASE("a coordinator answers claims, and informs members of tasks that leave") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.advance_and_tick(2s);
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

TEST_CASE(
    "an observer is shown each list once, with members that are unreachable, gone or have left") {
  joined_world world;
  world.start(first, 1000, "h:10");
  auto& member = world.meet(zero, 5);
  CHECK(world.shown_lists.empty());
  world.advance_and_tick(2s);
  world.say(member, number_claim{"worker", 0, 5, "h:5", true});
  auto& worker = world.meet(one, 6);
  world.say(worker, number_claim{"worker", 1, 6, "h:6", true});
  world.advance_and_tick(2s);
  REQUIRE(world.shown_lists.size() == 3);
  CHECK(world.shown_lists[0].members().size() == 1);
  CHECK(world.shown_lists[2].find(one)->state == presence::here);
  world.lose(member);
  world.lose(worker, error_kind::unavailable, true);
  world.advance_and_tick(2s);
  REQUIRE(world.shown_lists.size() == 5);
  CHECK(world.shown_lists[4].find(zero)->state == presence::unreachable);
  CHECK(world.shown_lists[4].find(one)->state == presence::left);
  CHECK(world.shown_lists[4].epoch().change == world.shown_lists[2].epoch().change + 2);
}

TEST_CASE("a task introduces itself to the first seed, and when the list has another incarnation") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& coordinator = world.meet(first, 1000, true);
  REQUIRE(coordinator.all<number_claim>().size() == 1);
  CHECK(coordinator.all<number_claim>()[0].is_confirmed);
  world.say(coordinator, list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}}));
  CHECK(coordinator.all<number_claim>().size() == 1);
  CHECK(world.learned.back().tasks.size() == 2);
  world.say(coordinator, list_of(1001, {{first, 1001, "h:10"}}));
  CHECK(coordinator.all<number_claim>().size() == 2);
  world.say(coordinator, number_grant{{}, zero, 5});
  CHECK(world.failed.empty());
}

TEST_CASE("a task whose number belongs to another task ends, by whichever message it learns this") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  SECTION("by the list") {
    world.say(peer, list_of(1000, {{first, 1000, "h:10"}, {zero, 6, "h:6"}}));
  }
  SECTION("by the answer to its claim") {
    world.say(peer, number_grant{failure(error_kind::failed_precondition, "replaced"), zero, 6});
  }
  SECTION("by a refused call") { world.lose(peer, error_kind::failed_precondition); }
  REQUIRE(world.failed.size() == 1);
  CHECK(world.failed[0].kind() == error_kind::failed_precondition);
}

TEST_CASE("an unreachable or unready first seed ends no task") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  world.say(peer, number_grant{failure(error_kind::unavailable, "not yet"), {}, 0});
  world.lose(peer);
  auto& second = world.meet(task_name{"ps", 1}, 1001);
  world.lose(second, error_kind::failed_precondition);
  CHECK(world.failed.empty());
}

TEST_CASE("a peer that is no member changes no list and no number, whatever it reports") {
  joined_world world;
  const member_changes no_members{{0, 0}, {UINT64_MAX - 1, 1}, {}};
  SECTION("of a task") {
    world.start(zero, 5, "h:5");
    auto& coordinator = world.meet(first, 1000, true);
    world.say(coordinator, list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}}));
    REQUIRE(world.learned.size() == 1);
    auto& client = world.meet({}, 7);
    auto heard_count = coordinator.heard.size();
    world.say(client, no_members);
    world.say(client, number_grant{failure(error_kind::failed_precondition, "end"), zero, 6});
    world.say(world.meet(one, 6), // a task that was not asked
              number_grant{failure(error_kind::failed_precondition, "end"), zero, 6});
    CHECK(world.learned.size() == 1);
    CHECK(coordinator.heard.size() == heard_count);
    // No coordinator follows the highest possible term, also not where a task reports it.
    world.say(coordinator, member_changes{{0, 0}, {UINT64_MAX, 1}, {}});
    CHECK(world.learned.size() == 1);
    auto longer = list_of(1001, {{first, 1001, "h:10"}, {zero, 5, "h:5"}, {one, 6, "h:6"}});
    world.say(coordinator, longer);
    CHECK(world.learned.back().tasks.size() == 3);
  }
  SECTION("of a coordinator") {
    world.start(first, 1000, "h:10");
    world.advance_and_tick(2s);
    auto& client = world.meet({}, 7);
    world.say(client, no_members);
    world.say(client, list_of(2000, {{one, 6, "h:6"}}));
    CHECK(world.learned.size() == 1);
  }
  CHECK(world.failed.empty());
}

TEST_CASE("a list with an impossible member is rejected") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  world.say(peer, list_of(1000, {{first, 1000, "h:10"}, {{"a job", 0}, 5, "h:5"}}));
  world.say(peer, list_of(1000, {{first, 1000, "h:10"}, {one, 5, "nowhere"}}));
  world.say(peer, list_of(1000, {{first, 1000, "h:10"}, {one, 5, std::string(600, 'h') + ":1"}}));
  CHECK(world.learned.empty());
}

TEST_CASE(
    "members forward the lists that they receive, and an unknown peer does not become a member") {
  joined_world world;
  world.start({}, 7, {}); // a client
  auto& newer_peer = world.meet(first, 1000);
  auto& older_peer = world.meet(one, 6);
  world.say(older_peer, member_changes{});
  CHECK(older_peer.all<member_changes>().size() == 1);
  world.say(newer_peer, list_of(1000, {{first, 1000, "h:10"}, {one, 6, "h:6"}}));
  REQUIRE(older_peer.all<member_changes>().size() == 2);
  CHECK(older_peer.all<member_changes>()[1].members.size() == 2);
  CHECK(newer_peer.all<member_changes>().size() == 1);
  CHECK(newer_peer.all<number_claim>().empty());
  CHECK(!world.joined->handle_message({ping{}, newer_peer.exchange, newer_peer.connection}));
  CHECK(!world.joined->handle_message({member_changes{}, {}, std::make_shared<peer_connection>()}));
  // Only the coordinator assigns numbers.
  world.say(older_peer, number_claim{"worker", -1, 8, "h:8"});
  CHECK(older_peer.all<number_grant>()[0].outcome.kind() == error_kind::unavailable);
}

TEST_CASE("a coordinator asks other members about a silent member") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.advance_and_tick(2s);
  auto& joiner = world.meet({}, 5);
  world.say(joiner, number_claim{"worker", -1, 5, "h:5"});
  world.say(joiner, number_claim{"worker", -1, 6, "h:6"});
  auto& reachable_peer = world.meet(zero, 5);
  auto& lost_peer = world.meet(one, 6);
  world.lose(lost_peer);
  world.advance_and_tick(1500ms);
  auto requests = reachable_peer.all<probe_request>();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].task == one);
  CHECK(requests[0].incarnation == 6);
  CHECK(joiner.all<probe_request>().empty());
  world.say(reachable_peer, probe_answer{one, 6, true});
  world.advance_and_tick(35s);
  CHECK(world.learned.back().tasks.contains(one));
  world.say(reachable_peer, probe_answer{one, 6, false});
  world.advance_and_tick(500ms);
  CHECK(!world.learned.back().tasks.contains(one));
}

TEST_CASE(
    "a member that is asked probes the silent member and reports, unless it was late itself") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  world.say(peer, list_of(1000, {{zero, 5, "h:5"}, {one, 6, "h:6", presence::unreachable}}));
  world.say(peer, probe_request{one, 7}); // a task that it does not know
  CHECK(world.probed.empty());
  for (auto found_incarnation : {6u, 0u, 7u}) {
    world.joined->tick();
    world.say(peer, probe_request{one, 6});
    REQUIRE(world.probed.size() == 1);
    CHECK(world.probed[0].first == one);
    world.probed[0].second(found_incarnation);
    world.probed.clear();
    world.run();
    auto answers = peer.all<probe_answer>();
    REQUIRE(!answers.empty());
    CHECK(answers.back().reached == (found_incarnation == 6));
  }
  CHECK(peer.all<probe_answer>().size() == 3);
  world.say(peer, probe_request{one, 6});
  world.advance(5s); // its clock was suspended: it cannot have received anything
  world.probed[0].second(0);
  world.run();
  CHECK(peer.all<probe_answer>().size() == 3);
  world.joined->tick();
  world.say(peer, probe_request{one, 6});
  world.advance(5s);
  world.joined->tick();
  world.probed[1].second(0);
  world.run();
  CHECK(peer.all<probe_answer>().size() == 3);
}

TEST_CASE("a member is not asked for more probes than it can do at once") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  world.say(peer, list_of(1000, {{zero, 5, "h:5"}, {one, 6, "h:6"}}));
  for (int i = 0; i < 100; ++i)
    world.say(peer, probe_request{one, 6});
  CHECK(world.probed.size() == 16);
}

TEST_CASE("a member reports that it is connected to a member which the list counts as gone") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  world.meet(one, 6);
  auto gone_member = cluster_member{one, 6, "h:6", presence::gone};
  world.say(peer, list_of(1000, {{zero, 5, "h:5"}, gone_member}));
  REQUIRE(peer.all<probe_answer>().size() == 1);
  CHECK(peer.all<probe_answer>()[0].task == one);
  CHECK(peer.all<probe_answer>()[0].reached);
  gone_member.incarnation = 7; // another incarnation
  world.say(peer, list_of(1001, {{zero, 5, "h:5"}, gone_member}));
  CHECK(peer.all<probe_answer>().size() == 1);
}

TEST_CASE("a member that is no coordinator refers number claims to the coordinator") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  world.say(peer, list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}}, first));
  auto& joiner = world.meet({}, 8);
  world.say(joiner, number_claim{"worker", -1, 8, "h:8"});
  auto grants = joiner.all<number_grant>();
  REQUIRE(grants.size() == 1);
  CHECK(grants[0].outcome.kind() == error_kind::unavailable);
  CHECK(grants[0].coordinator_address == "h:10");
  CHECK(world.kept_addresses == std::vector<std::string>{"h:10"});
}

TEST_CASE("a coordinator calls members that are not connected to it") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.advance_and_tick(2s);
  auto& joiner = world.meet({}, 5);
  world.say(joiner, number_claim{"worker", -1, 5, "h:5"});
  world.advance_and_tick(7s);
  REQUIRE(!world.probed.empty());
  CHECK(world.probed[0].first == zero);
}

TEST_CASE("a coordinator that cannot call all members at once calls them in turn") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.advance_and_tick(2s);
  auto& joiner = world.meet({}, 5);
  for (uint64_t i = 0; i < 40; ++i)
    world.say(joiner, number_claim{"worker", -1, 100 + i, concat("h:", 100 + i)});
  std::set<task_name> called;
  for (int i = 0; i < 5; ++i) {
    world.advance_and_tick(5s);
    auto calls = std::exchange(world.probed, {});
    CHECK(calls.size() <= 16);
    for (auto& [task, answer] : calls) {
      called.insert(task);
      answer(0); // the task is not reached
    }
  }
  CHECK(called.size() == 40);
}

} // namespace troupe::test::joined_cluster_test
