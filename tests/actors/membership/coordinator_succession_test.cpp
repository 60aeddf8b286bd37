// Who gives out numbers when the coordinator is gone, and when it is back.
#include "tests/support/joined_world.hpp"

namespace troupe::test::coordinator_succession_test {

TEST_CASE("a member that is elected decides, until the first seed is back") {
  joined_world world;
  world.start(zero, 5, "h:5");
  auto& other = world.meet(first, 1000, true);
  auto members = std::vector<cluster_member>{
      {first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 6, "h:6"}, {two, 7, "h:7"}};
  world.say(other, list_of(1000, members, first));
  auto& second = world.meet(one, 6);
  auto& third = world.meet(two, 7);
  auto& joiner = world.meet({}, 8);
  world.pass_and_tick(20s);
  CHECK(world.probed.empty());
  world.lose(other);
  world.pass_and_tick(9s);
  CHECK(world.probed.empty());
  world.pass_and_tick(2s);
  REQUIRE(world.probed.size() == 2);
  for (auto& [task, then] : std::exchange(world.probed, {}))
    then(task == one ? 6 : 7);
  world.run();
  REQUIRE(second.all<vote_request>().size() == 1);
  auto asked = second.all<vote_request>()[0];
  CHECK(asked.term == 1001);
  world.say(second, vote{1001, true});
  world.say(joiner, number_claim{"worker", -1, 8, "h:8"});
  CHECK(joiner.all<number_grant>()[0].outcome.message().find("is not heard") != std::string::npos);
  world.say(third, vote{1001, true});                              // three of four
  CHECK(third.all<member_changes>().back().epoch == list_epoch{}); // what do you know?
  world.pass_and_tick(2s);
  CHECK(second.all<member_changes>().back().epoch == list_epoch{});
  world.say(second, list_of(1000, members, first)); // which is nothing new
  auto told = second.all<member_changes>().back();
  CHECK(told.epoch.term == 1001);
  CHECK(told.coordinator == zero);
  world.say(joiner, number_claim{"worker", -1, 8, "h:8"});
  CHECK(joiner.all<number_grant>()[1].task == task_name{"worker", 3});
  // The one that is back has a term that is the time.
  auto& back = world.meet(first, 2000, true);
  members[0].incarnation = 2000;
  world.say(back, list_of(2000, members, first));
  world.say(joiner, number_claim{"worker", -1, 9, "h:9"});
  CHECK(joiner.all<number_grant>()[2].ask == "h:10");
  CHECK(world.failed.empty());
  CHECK(world.told == std::vector<std::string>{"coordinator_silent", "coordinator_elected",
                                               "coordinator_replaced"});
}

TEST_CASE("a member votes once, and only while it does not hear the coordinator") {
  joined_world world;
  world.start(one, 6, "h:6");
  auto& other = world.meet(first, 1000, true);
  auto list = list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 6, "h:6"}}, first);
  world.say(other, list);
  auto& asks = world.meet(zero, 5);
  auto& stranger = world.meet({}, 8);
  world.pass_and_tick(10s);
  world.say(asks, vote_request{1001, list.epoch});
  CHECK(!asks.all<vote>().back().granted);
  world.lose(other);
  world.pass_and_tick(6s);
  world.say(stranger, vote_request{1001, list.epoch});
  CHECK(stranger.all<vote>().empty());
  world.say(asks, vote_request{1001, list.epoch});
  CHECK(asks.all<vote>().back().granted);
  world.say(asks, vote_request{1001, list.epoch});
  CHECK(!asks.all<vote>().back().granted);
}

TEST_CASE(
    "a coordinator that was replaced while it was cut off is a member, if its number is its own") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.pass_and_tick(2s);
  auto& member = world.meet(zero, 5);
  SECTION("it is") {
    world.say(
        member,
        list_of(1001, {{first, 1000, "h:10", presence::unreachable}, {zero, 5, "h:5"}}, zero));
    CHECK(world.failed.empty());
    CHECK(member.all<number_claim>().size() == 1);
    CHECK(world.kept == std::vector<std::string>{"h:5"});
  }
  SECTION("it is not") {
    world.say(member, list_of(1001, {{first, 1005, "h:9"}, {zero, 5, "h:5"}}, zero));
    REQUIRE(world.failed.size() == 1);
    CHECK(world.failed[0].kind() == error_kind::failed_precondition);
  }
}

TEST_CASE("the first seed decides again when whoever was elected meanwhile is gone") {
  joined_world world;
  world.start(first, 1000, "h:10");
  world.pass_and_tick(2s);
  auto& member = world.meet(zero, 5);
  // It was cut off, and is said to be gone: it has no vote, and alone the member has too few.
  auto known = list_of(
      1001, {{first, 1000, "h:10", presence::gone}, {zero, 5, "h:5"}, {one, 6, "h:6"}}, one);
  world.say(member, known);
  world.pass_and_tick(14s);
  CHECK(world.told == std::vector<std::string>{"coordinator_replaced"});
  world.pass_and_tick(2s);
  CHECK(world.told.back() == "coordinator_returned");
  world.say(member, known); // which is what it was asked for
  world.pass_and_tick(3s);
  auto told = member.all<member_changes>().back();
  CHECK(told.epoch.term > 1001);
  CHECK(told.coordinator == first);
  auto given = world.claim_any(9, "h:9");
  REQUIRE(given.outcome);
  CHECK(given.task == two);
  CHECK(world.failed.empty());
}

TEST_CASE("who follows an elected coordinator at its address is told to decide") {
  joined_world world;
  world.start(one, 6, "h:6");
  auto& other = world.meet(zero, 5);
  auto list = list_of(1001, {{zero, 5, "h:5"}, {one, 6, "h:6"}}, zero);
  world.say(other, list);
  auto& joiner = world.meet({}, 9);
  world.say(joiner, number_claim{"worker", -1, 9, "h:5"});
  CHECK(!joiner.all<number_grant>().back().outcome);
  world.lose(other);
  world.say(joiner, number_claim{"worker", -1, 9, "h:5"});
  auto made = joiner.all<number_grant>().back();
  REQUIRE(made.outcome);
  CHECK(made.task == zero);
  CHECK(made.incarnation == 9);
  CHECK(made.ask == "h:5");
  // There it is heard only once it has said so itself.
  world.meet(zero, 9);
  world.pass_and_tick(13s);
  CHECK(world.told == std::vector<std::string>{"coordinator_silent"});
}

TEST_CASE("who was given a number by a coordinator that had been replaced finds that it decides") {
  joined_world world;
  world.start(one, 50, "h:6");
  auto& replaced = world.meet(first, 1000, true);
  auto& member = world.meet(zero, 5);
  world.say(replaced,
            list_of(1000, {{first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 50, "h:6"}}, first));
  // Those who elected the process that was at h:6 before know none but that one.
  auto incarnation = GENERATE(40, 50); // 50: it has given its own number away before it was lost
  auto known = list_of(1001, {{first, 1000, "h:10"}, {zero, 5, "h:5"}, {one, 40, "h:6"}}, one);
  std::ranges::find(known.members, one, &cluster_member::task)->incarnation = incarnation;
  world.say(member, known);
  CHECK(world.told.empty()); // a later list may come
  world.pass_and_tick(3s);
  CHECK(world.failed.empty());
  CHECK(world.told == std::vector<std::string>{"coordinator_followed"});
  world.pass_and_tick(2s);
  auto told = member.all<member_changes>().back();
  CHECK(told.epoch.term > 1001);
  auto given = world.claim_any(9, "h:9");
  REQUIRE(given.outcome);
  CHECK(given.task == two);
  // When the others hear of it, it stays.
  CHECK(world.failed.empty());
}

TEST_CASE("who is named by an old list as the one that decides waits for a later one") {
  joined_world world;
  world.start(one, 50, "h:6");
  auto& late = world.meet(zero, 5);
  world.say(late, list_of(1001, {{zero, 5, "h:5"}, {one, 40, "h:6"}, {two, 7, "h:7"}}, one));
  auto& member = world.meet(two, 7);
  world.pass_and_tick(1s);
  world.say(member, list_of(1002, {{zero, 5, "h:5"}, {one, 50, "h:6"}, {two, 7, "h:7"}}, two));
  world.pass_and_tick(5s);
  CHECK(world.told.empty());
  CHECK(world.failed.empty());
}

TEST_CASE("a coordinator whose own number another process has been given ends") {
  joined_world world;
  world.start(one, 6, "h:6");
  auto& member = world.meet(zero, 5);
  world.say(
      member,
      list_of(900, {{first, 3, "h:10", presence::left}, {zero, 5, "h:5"}, {one, 6, "h:6"}}, first));
  world.pass_and_tick(14s);
  for (auto& [task, then] : std::exchange(world.probed, {}))
    then(5);
  world.run();
  auto asked = member.all<vote_request>();
  REQUIRE(!asked.empty());
  world.say(member, vote{asked.back().term, true});
  world.pass_and_tick(2s);
  REQUIRE(world.failed.empty());
  auto& joiner = world.meet({}, 60);
  world.say(joiner, number_claim{"worker", 1, 60, "h:6"});
  REQUIRE(joiner.all<number_grant>().size() == 1);
  CHECK(joiner.all<number_grant>()[0].outcome);
  REQUIRE(world.failed.size() == 1);
  CHECK(world.failed[0].kind() == error_kind::failed_precondition);
}

} // namespace troupe::test::coordinator_succession_test
