// The election of a coordinator after the old one is lost, and the return of the old one.
#include "tests/support/joined_world.hpp"

namespace troupe::test::coordinator_succession_test {

TEST_CASE("an elected member is the coordinator until the first seed returns") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& peer = world.meet(first, 1000, true);
  auto members = std::vector<cluster_member>{
      {first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 6, "h:6"}, {two, 7, "h:7"}};
  world.say(peer, list_of(1000, members, first));
  auto& second = world.meet(one, 6);
  auto& third = world.meet(two, 7);
  auto& joiner = world.meet({}, 8);
  world.advance_and_tick(20s);
  CHECK(world.probed.empty());
  world.lose(peer);
  world.advance_and_tick(9s);
  CHECK(world.probed.empty());
  world.advance_and_tick(2s);
  REQUIRE(world.probed.size() == 2);
  for (auto& [task, answer] : std::exchange(world.probed, {}))
    answer(task == one ? 6 : 7);
  world.run();
  REQUIRE(second.all<vote_request>().size() == 1);
  auto requests = second.all<vote_request>()[0];
  CHECK(requests.term == 1001);
  world.say(second, vote{1001, true});
  world.say(joiner, number_claim{"worker", -1, 8, "h:8"});
  CHECK(joiner.all<number_grant>()[0].outcome.message().find("is not connected") !=
        std::string::npos);
  world.say(third, vote{1001, true}); // three of four
  // Asks for the list that the voter has.
  CHECK(third.all<member_changes>().back().epoch == list_epoch{});
  world.advance_and_tick(2s);
  CHECK(second.all<member_changes>().back().epoch == list_epoch{});
  world.say(second, list_of(1000, members, first)); // a list without news
  auto announced = second.all<member_changes>().back();
  CHECK(announced.epoch.term == 1001);
  CHECK(announced.coordinator == zero);
  world.say(joiner, number_claim{"worker", -1, 8, "h:8"});
  CHECK(joiner.all<number_grant>()[1].task == task_name{"worker", 3});
  // The coordinator that returns takes the current time as its term.
  auto& returned = world.meet(first, 2000, true);
  members[0].incarnation = 2000;
  world.say(returned, list_of(2000, members, first));
  world.say(joiner, number_claim{"worker", -1, 9, "h:9"});
  CHECK(joiner.all<number_grant>()[2].coordinator_address == "h:10");
  CHECK(world.failed.empty());
  CHECK(world.logged_events == std::vector<std::string>{"coordinator_unreachable",
                                                        "coordinator_elected",
                                                        "coordinator_replaced"});
}

TEST_CASE("a member votes once, and only while it does not hear the coordinator") {
  joined_world world;
  world.start(one, 6, "h:6");
  auto& peer = world.meet(first, 1000, true);
  auto list = list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 6, "h:6"}}, first);
  world.say(peer, list);
  auto& candidate = world.meet(zero, 5);
  auto& stranger = world.meet({}, 8);
  world.advance_and_tick(10s);
  world.say(candidate, vote_request{1001, list.epoch});
  CHECK(!candidate.all<vote>().back().granted);
  world.lose(peer);
  world.advance_and_tick(6s);
  world.say(stranger, vote_request{1001, list.epoch});
  CHECK(stranger.all<vote>().empty());
  world.say(candidate, vote_request{1001, list.epoch});
  CHECK(candidate.all<vote>().back().granted);
  world.say(candidate, vote_request{1001, list.epoch});
  CHECK(!candidate.all<vote>().back().granted);
}

TEST_CASE("a coordinator that was replaced during a partition becomes a member if its number is "
          "its own") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.advance_and_tick(2s);
  auto& member = world.meet(zero, 5);
  SECTION("the number is its own") {
    world.say(
        member,
        list_of(1001, {{first, 1000, "h:10", presence::unreachable}, {zero, 5, "h:5"}}, zero));
    CHECK(world.failed.empty());
    CHECK(member.all<number_claim>().size() == 1);
    CHECK(world.kept_addresses == std::vector<std::string>{"h:5"});
  }
  SECTION("the number is another's") {
    world.say(member, list_of(1001, {{first, 1005, "h:9"}, {zero, 5, "h:5"}}, zero));
    REQUIRE(world.failed.size() == 1);
    CHECK(world.failed[0].kind() == error_kind::failed_precondition);
  }
}

TEST_CASE("the first seed is the coordinator again when the elected one is gone") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.advance_and_tick(2s);
  auto& member = world.meet(zero, 5);
  // The peer was cut off and is listed as gone: it has no vote, and the member alone is no
  // majority.
  auto known = list_of(
      1001, {{first, 1000, "h:10", presence::gone}, {zero, 5, "h:5"}, {one, 6, "h:6"}}, one);
  world.say(member, known);
  world.advance_and_tick(14s);
  CHECK(world.logged_events == std::vector<std::string>{"coordinator_replaced"});
  world.advance_and_tick(2s);
  CHECK(world.logged_events.back() == "coordinator_returned");
  world.say(member, known); // the answer to the coordinator's question
  world.advance_and_tick(3s);
  auto announced = member.all<member_changes>().back();
  CHECK(announced.epoch.term > 1001);
  CHECK(announced.coordinator == first);
  auto grant = world.claim_any(9, "h:9");
  REQUIRE(grant.outcome);
  CHECK(grant.task == two);
  CHECK(world.failed.empty());
}

TEST_CASE(
    "a task at the address of a lost elected coordinator is granted the coordinator's number") {
  joined_world world;
  world.start(one, 6, "h:6");
  auto& peer = world.meet(zero, 5);
  auto list = list_of(1001, {{zero, 5, "h:5"}, {one, 6, "h:6"}}, zero);
  world.say(peer, list);
  auto& joiner = world.meet({}, 9);
  world.say(joiner, number_claim{"worker", -1, 9, "h:5"});
  CHECK(!joiner.all<number_grant>().back().outcome);
  world.lose(peer);
  world.say(joiner, number_claim{"worker", -1, 9, "h:5"});
  auto grant = joiner.all<number_grant>().back();
  REQUIRE(grant.outcome);
  CHECK(grant.task == zero);
  CHECK(grant.incarnation == 9);
  CHECK(grant.coordinator_address == "h:5");
  // Then it is heard only after it has introduced itself again.
  world.meet(zero, 9);
  world.advance_and_tick(13s);
  CHECK(world.logged_events == std::vector<std::string>{"coordinator_unreachable"});
}

TEST_CASE("a task with a number from a replaced coordinator learns that it is the coordinator") {
  joined_world world;
  world.start(one, 50, "h:6");
  auto& replaced = world.meet(first, 1000, true);
  auto& member = world.meet(zero, 5);
  world.say(replaced,
            list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 50, "h:6"}}, first));
  // The members that elected the earlier process at h:6 know only that incarnation.
  // 50: it gave its own number to another process before it was lost.
  auto incarnation = GENERATE(40, 50);
  auto known = list_of(1001, {{first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 40, "h:6"}}, one);
  std::ranges::find(known.members, one, &cluster_member::task)->incarnation = incarnation;
  world.say(member, known);
  CHECK(world.logged_events.empty()); // a later list may arrive
  world.advance_and_tick(3s);
  CHECK(world.failed.empty());
  CHECK(world.logged_events == std::vector<std::string>{"coordinator_followed"});
  world.advance_and_tick(2s);
  auto announced = member.all<member_changes>().back();
  CHECK(announced.epoch.term > 1001);
  auto grant = world.claim_any(9, "h:9");
  REQUIRE(grant.outcome);
  CHECK(grant.task == two);
  // After the other members have reported the incarnation, it keeps its number.
  CHECK(world.failed.empty());
}

TEST_CASE("a task that an old list names as the coordinator waits for a later list") {
  joined_world world;
  world.start(one, 50, "h:6");
  auto& late_peer = world.meet(zero, 5);
  world.say(late_peer, list_of(1001, {{zero, 5, "h:5"}, {one, 40, "h:6"}, {two, 7, "h:7"}}, one));
  auto& member = world.meet(two, 7);
  world.advance_and_tick(1s);
  world.say(member, list_of(1002, {{zero, 5, "h:5"}, {one, 50, "h:6"}, {two, 7, "h:7"}}, two));
  world.advance_and_tick(5s);
  CHECK(world.logged_events.empty());
  CHECK(world.failed.empty());
}

TEST_CASE("a coordinator whose number was given to another process ends") {
  joined_world world;
  world.start(one, 6, "h:6");
  auto& member = world.meet(zero, 5);
  world.say(
      member,
      list_of(900, {{first, 3, "h:10", presence::left}, {zero, 5, "h:5"}, {one, 6, "h:6"}}, first));
  world.advance_and_tick(14s);
  for (auto& [task, answer] : std::exchange(world.probed, {}))
    answer(5);
  world.run();
  auto requests = member.all<vote_request>();
  REQUIRE(!requests.empty());
  world.say(member, vote{requests.back().term, true});
  world.advance_and_tick(2s);
  REQUIRE(world.failed.empty());
  auto& joiner = world.meet({}, 60);
  world.say(joiner, number_claim{"worker", 1, 60, "h:6"});
  REQUIRE(joiner.all<number_grant>().size() == 1);
  CHECK(joiner.all<number_grant>()[0].outcome);
  REQUIRE(world.failed.size() == 1);
  CHECK(world.failed[0].kind() == error_kind::failed_precondition);
}

} // namespace troupe::test::coordinator_succession_test
