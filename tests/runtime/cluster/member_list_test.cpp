#include "tests/support/catch.hpp"
#include "troupe/runtime/cluster/cluster_coordinator.hpp"

#include <set>

namespace troupe::test::member_list_test {

using namespace std::chrono_literals;
using time_point = cluster_coordinator::time_point;

namespace {

cluster_member member(int task, uint64_t incarnation, presence state = presence::here) {
  return {{"worker", task}, incarnation, concat("h:", incarnation), state};
}

number_claim any(uint64_t incarnation, std::string address = {}) {
  return {"worker", -1, incarnation, address.empty() ? concat("h:", incarnation) : address};
}

number_claim holds(int task, uint64_t incarnation) {
  return {"worker", task, incarnation, concat("h:", incarnation), true};
}

// The first task of the cluster, with a clock of its own.
struct world {
  time_point now{1h};
  cluster_coordinator first{{"ps", 0}, 1000, "ps:1", {}, now};
  std::set<task_name> reached; // tasks that the asked members can reach
  std::vector<task_name> asked;
  void pass(std::chrono::milliseconds time) {
    for (auto end = now + time; now < end;) {
      now = std::min(end, now + 100ms);
      first.tick(now);
      for (const auto& probe : first.probes(now)) {
        asked.push_back(probe.prober);
        first.record(
            {probe.subject.task, probe.subject.incarnation, reached.contains(probe.subject.task)},
            now);
      }
    }
  }
  task_name granted(const number_claim& claim) {
    auto grant = first.claim(claim, now);
    INFO(grant.outcome);
    REQUIRE(grant.outcome);
    return grant.task;
  }
  error_kind refused(const number_claim& claim) {
    auto grant = first.claim(claim, now);
    REQUIRE(!grant.outcome);
    return grant.outcome.kind();
  }
  presence state(const task_name& task) { return first.list().find(task)->state; }
};

const task_name zero{"worker", 0}, one{"worker", 1}, two{"worker", 2};

} // namespace

TEST_CASE("a copy of a list follows its changes, whichever changes it has missed") {
  member_list original;
  original.begin_term(7);
  original.put(member(0, 1));
  original.put(member(1, 2));
  member_list copy;
  CHECK(copy.merge(original.changes_since(copy.epoch())) == member_list::merge_outcome::merged);
  CHECK(copy.members() == original.members());
  auto missed_changes = original.changes_since(copy.epoch());
  CHECK(missed_changes.members.empty());
  CHECK(copy.merge(missed_changes) == member_list::merge_outcome::outdated);
  auto seen_epoch = original.epoch();
  original.put(member(1, 2, presence::gone));
  auto lost = original.changes_since(seen_epoch);
  auto at_loss = original.epoch();
  original.put(member(2, 3));
  CHECK(copy.merge(original.changes_since(at_loss)) == member_list::merge_outcome::gap);
  CHECK(copy.merge(lost) == member_list::merge_outcome::merged);
  CHECK(copy.merge(original.changes_since(seen_epoch)) ==
        member_list::merge_outcome::merged); // overlapping changes
  CHECK(copy.members() == original.members());
  CHECK(copy.epoch() == original.epoch());
}

TEST_CASE("the list of a later coordinator replaces the list of an earlier one") {
  member_list former, later, copy;
  former.begin_term(7);
  for (int i = 0; i < 5; ++i)
    former.put(member(i, 10));
  later.begin_term(8);
  later.put(member(0, 11));
  copy.merge(former.changes_since({}));
  CHECK(later.changes_since(copy.epoch()).members.size() == 1);
  CHECK(copy.merge(later.changes_since(copy.epoch())) == member_list::merge_outcome::merged);
  CHECK(copy.members() == later.members());
  CHECK(copy.merge(former.changes_since({})) == member_list::merge_outcome::outdated);
  // A change of one list does not apply to another.
  former.put(member(6, 10));
  former.begin_term(9);
  CHECK(copy.merge({{9, 1}, {9, 2}, {member(1, 12)}}) == member_list::merge_outcome::gap);
}

TEST_CASE("numbers are assigned from 0 up, once existing holders have had time to call") {
  world w;
  CHECK(w.refused(any(1)) == error_kind::unavailable);
  w.pass(2s);
  CHECK(w.granted(any(1)) == zero);
  CHECK(w.granted(any(2)) == one);
  CHECK(w.granted(any(1)) == zero); // repeated, as the answer was lost
  CHECK(w.granted({"ps", -1, 5, "h:5"}) == task_name{"ps", 1});
  CHECK(w.granted({"worker", 7, 6, "h:6"}) == task_name{"worker", 7});
  CHECK(w.granted(any(3)) == two);
  CHECK(w.refused({"worker", 7, 8, "h:8"}) == error_kind::already_exists);
  CHECK(w.refused({"worker", 65'536, 8, "h:8"}) == error_kind::invalid_argument);
}

TEST_CASE("a number becomes free when its task has left, or is gone") {
  world w;
  w.pass(2s);
  w.granted(any(1));
  w.granted(any(2));
  w.first.connected(zero, 1);
  w.first.connected(one, 2);
  w.first.connected(one, 2);
  w.first.lost(one, 2, w.now);
  w.pass(60s);
  CHECK(w.state(one) == presence::here); // another connection remains
  w.first.lost(one, 2, w.now);
  w.pass(500ms);
  CHECK(w.state(one) == presence::here);
  w.pass(600ms);
  CHECK(w.state(one) == presence::unreachable);
  w.pass(28s);
  CHECK(w.granted(any(3)) == two);
  w.first.connected(two, 3);
  w.pass(1s);
  CHECK(w.state(one) == presence::gone);
  CHECK(w.granted(any(4)) == one);
  w.first.left(zero, 1);
  CHECK(w.granted(any(5)) == zero);
}

TEST_CASE("a successor has a later incarnation than its predecessor, independent of its clock") {
  world w;
  w.pass(2s);
  w.granted(any(100));
  w.first.left(zero, 100);
  auto next = w.first.claim(any(50), w.now);
  CHECK(next.task == zero);
  CHECK(next.incarnation == 101);
  CHECK(w.first.claim(any(50), w.now).incarnation == 101); // a repeated claim
  // With this incarnation it holds its own number.
  CHECK(w.first.claim({"worker", 0, 101, "h:50", true}, w.now).incarnation == 101);
  CHECK(w.first.list().members().size() == 2);
}

TEST_CASE(
    "a task with a number from another coordinator follows the previous task at its address") {
  world w;
  w.pass(2s);
  w.granted(any(100, "h:7"));
  CHECK(w.refused({"worker", 0, 200, "h:8", true}) == error_kind::failed_precondition);
  CHECK(w.refused({"worker", 0, 99, "h:7", true}) == error_kind::failed_precondition);
  CHECK(w.granted({"worker", 0, 200, "h:7", true}) == zero);
  CHECK(w.first.list().find(zero)->incarnation == 200);
}

TEST_CASE("a task that restarts at the same address keeps its number") {
  world w;
  w.pass(2s);
  w.granted(any(1, "h:7"));
  w.granted(any(2, "h:8"));
  CHECK(w.granted(any(3, "h:8")) == one);
  CHECK(w.granted({"worker", 0, 4, "h:7"}) == zero);
  CHECK(w.refused(holds(0, 1)) == error_kind::failed_precondition); // it has been replaced
}

TEST_CASE("a restarted coordinator learns its members from their calls") {
  world former;
  former.pass(2s);
  former.granted(any(1));
  former.granted(any(2));
  former.granted(any(3));
  former.first.left(one, 2);
  world w;
  w.first = cluster_coordinator{{"ps", 0}, 2000, "ps:1", {}, w.now};
  member_list copy;
  copy.merge(former.first.list().changes_since({}));
  REQUIRE(w.first.merge(copy, w.now));
  w.first.connected(zero, 1);
  CHECK(w.granted(holds(0, 1)) == zero);
  w.pass(2s);
  CHECK(w.state(zero) == presence::here);
  CHECK(w.state(one) == presence::left);
  CHECK(w.state(two) == presence::unreachable); // member two has not called yet
  CHECK(w.granted(any(9)) == one);
  CHECK(w.granted(any(10)) == task_name{"worker", 3});
  w.pass(29s);
  CHECK(w.state(two) == presence::gone);
  // A member that was cut off for a long time stays the same, unless its number has been
  // reassigned.
  CHECK(w.granted(holds(2, 3)) == two);
  w.first.connected(two, 3);
  CHECK(w.state(two) == presence::here);
  CHECK(w.refused(holds(1, 2)) == error_kind::failed_precondition);
}

TEST_CASE("a coordinator with a slow clock still decides; a replaced one ends") {
  member_list later;
  later.begin_term(5000);
  later.put(member(0, 1));
  world w;
  REQUIRE(w.first.merge(later, w.now));
  CHECK(w.first.list().epoch().term == 5001);
  w.pass(2s);
  CHECK(w.granted(any(9)) == one);
  later.begin_term(6000);
  CHECK(w.first.merge(later, w.now).kind() == error_kind::failed_precondition);
}

TEST_CASE("a coordinator that was paused does not count that time against its members") {
  world w;
  w.pass(2s);
  w.granted(any(1));
  w.granted(any(2));
  w.first.connected(zero, 1);
  w.first.connected(one, 2);
  w.first.lost(zero, 1, w.now);
  w.pass(900ms);
  w.now += 60s; // the coordinator was paused
  w.first.tick(w.now);
  CHECK(w.state(zero) != presence::gone);
  w.pass(20s);
  CHECK(w.state(zero) == presence::unreachable);
  w.pass(11s);
  CHECK(w.state(zero) == presence::gone);
}

TEST_CASE("a task that returns late has its own time to call, independent of its predecessor") {
  world w;
  w.pass(2s);
  w.granted({"worker", -1, 1, "h:1"});
  w.first.connected(zero, 1);
  w.first.connected(w.granted(any(2)), 2); // it is asked, and reaches no other member
  w.first.lost(zero, 1, w.now);
  w.pass(28s);
  CHECK(w.state(zero) == presence::unreachable);
  w.granted({"worker", -1, 3, "h:1"});
  w.pass(20s); // it initializes its devices
  CHECK(w.state(zero) != presence::gone);
  CHECK(w.granted(any(4)) == two);
  w.first.connected(zero, 3);
  CHECK(w.state(zero) == presence::here);
}

TEST_CASE(
    "a member that another member reaches is unreachable; it is gone only when none reaches it") {
  world w;
  w.pass(2s);
  w.granted(any(1));
  w.granted(any(2));
  w.first.connected(zero, 1);
  w.first.connected(one, 2);
  w.first.lost(zero, 1, w.now);
  w.reached.insert(zero);
  w.pass(10min);
  CHECK(w.state(zero) == presence::unreachable);
  CHECK(w.granted(any(3)) == two);
  w.reached.clear();
  w.pass(20s);
  CHECK(w.state(zero) == presence::unreachable);
  w.pass(16s);
  CHECK(w.state(zero) == presence::gone);
}

TEST_CASE(
    "a coordinator that no member is connected to loses none for long: it may be cut off itself") {
  world w;
  w.pass(2s);
  for (uint64_t i = 1; i <= 3; ++i)
    w.first.connected(w.granted(any(i)), i);
  for (uint64_t i = 1; i <= 3; ++i)
    w.first.lost({"worker", static_cast<int>(i) - 1}, i, w.now);
  w.pass(110s);
  for (const auto& task : {zero, one, two})
    CHECK(w.state(task) == presence::unreachable);
  // One is present again, and does not reach the others.
  w.first.connected(zero, 1);
  w.pass(6s);
  CHECK(w.state(zero) == presence::here);
  CHECK(w.state(one) == presence::gone);
  // A member with a connection to a member reported as gone says so.
  w.first.record({one, 7, true}, w.now); // about another incarnation
  CHECK(w.state(one) == presence::gone);
  w.first.record({one, 2, true}, w.now);
  CHECK(w.state(one) == presence::unreachable);
}

TEST_CASE("numbers of tasks that are all gone become free eventually") {
  world w;
  w.pass(2s);
  w.first.connected(w.granted(any(1)), 1);
  w.first.lost(zero, 1, w.now);
  w.pass(119s);
  CHECK(w.refused({"worker", 0, 9, "h:9"}) == error_kind::unavailable);
  w.pass(2s);
  CHECK(w.state(zero) == presence::gone);
  CHECK(w.granted({"worker", 0, 9, "h:9"}) == zero);
}

TEST_CASE(
    "a member that was elected goes on with the list, and keeps the first seed's number for it") {
  world former;
  former.pass(2s);
  former.granted(any(1));
  former.granted(any(2));
  former.first.left(one, 2);
  world w;
  w.first = cluster_coordinator{zero, former.first.list(), 1001, false, {}, w.now};
  w.first.reserve("ps:1");
  CHECK(w.first.list().epoch().term == 1001);
  CHECK(w.first.list().coordinator() == zero);
  CHECK(w.refused(any(9)) == error_kind::unavailable); // other members may know more
  member_list newer_list = former.first.list();
  newer_list.put(member(2, 3));
  REQUIRE(w.first.merge(newer_list, w.now));
  w.first.connected(two, 3);
  w.pass(2s);
  CHECK(w.granted(any(9)) == one);
  CHECK(w.state({"ps", 0}) == presence::unreachable);
  w.pass(40s);
  CHECK(w.state({"ps", 0}) == presence::gone);
  CHECK(w.granted({"ps", -1, 10, "h:10"}) == task_name{"ps", 1});
  CHECK(w.refused({"ps", 0, 11, "h:11"}) == error_kind::unavailable);
  CHECK(w.granted({"ps", 0, 12, "ps:1"}) == task_name{"ps", 0});
}

TEST_CASE("a successor knows that a coordinator which said goodbye has left") {
  world former;
  former.pass(2s);
  former.granted(any(1));
  world w;
  w.first = cluster_coordinator{zero, former.first.list(), 1001, true, {}, w.now};
  CHECK(w.state({"ps", 0}) == presence::left);
}

TEST_CASE("members are asked in turn, a few each time") {
  world w;
  w.pass(2s);
  for (uint64_t i = 1; i <= 6; ++i)
    w.first.connected(w.granted(any(i)), i);
  w.first.lost(zero, 1, w.now);
  w.reached.insert(zero);
  w.pass(500ms);
  CHECK(w.asked.empty());
  w.pass(600ms);
  CHECK(w.asked.size() == 3);
  w.pass(5s);
  CHECK(w.asked.size() == 6);
  CHECK(std::set<task_name>{w.asked.begin(), w.asked.end()}.size() == 5);
}

} // namespace troupe::test::member_list_test
