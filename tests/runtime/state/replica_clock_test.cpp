#include "tests/support/catch.hpp"
#include "troupe/runtime/state/replica_clock.hpp"

#include <algorithm>
#include <map>
#include <random>

namespace troupe::test::replica_clock_test {
namespace {

request_id who(uint64_t number, uint64_t step = 1) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

int64_t given(const answer& one) { return *one.tensors.at(0).data<int64_t>(); }

} // namespace

TEST_CASE("those that await another step go on when it is set, also to an earlier one") {
  replica_clock clock{"c", 2};
  answers done;
  clock.await_step(who(1), -1, done);
  CHECK(done.empty());
  clock.set_step(who(2), 7, done);
  REQUIRE(done.size() == 2);
  CHECK(done[0].who == who(2));
  CHECK(given(done[1]) == 7);
  clock.await_step(who(3), 7, done);
  CHECK(done.size() == 2);
  clock.await_step(who(4), 5, done); // who comes late goes on at once
  REQUIRE(done.size() == 3);
  CHECK(given(done[2]) == 7);
  clock.set_step(who(5), 7, done);
  CHECK(done.size() == 4);
  clock.set_step(who(6), 3, done);
  REQUIRE(done.size() == 6);
  CHECK(given(done[5]) == 3);
  CHECK(clock.step() == 3);
}

TEST_CASE("a replica waits for the slowest living one, and for none that has left") {
  replica_clock clock{"c", 3};
  answers done;
  for (int64_t i = 0; i < 3; ++i)
    clock.join(who(10), i, done);
  done.clear();
  clock.tick(who(1), 0, 1, done);
  CHECK(given(done.at(0)) == 1);
  clock.tick(who(2), 0, 1, done); // two ahead
  CHECK(done.size() == 1);
  clock.tick(who(3), 1, 1, done);
  CHECK(done.size() == 2); // the third has done none
  clock.leave(who(4), 2, done);
  REQUIRE(done.size() == 4);
  CHECK(done[3].who == who(2));
  CHECK(given(done[3]) == 2);
  // It comes back beside the slowest.
  clock.tick(who(5), 2, 1, done);
  CHECK(given(done.at(4)) == 2);
  CHECK(clock.size() == 3);
}

TEST_CASE("a clock refuses replicas that there are not, and steps and leads below zero") {
  replica_clock clock{"c", 2};
  answers done;
  clock.join(who(1), 2, done);
  clock.leave(who(2), -2, done);
  clock.tick(who(3), 9, 1, done);
  clock.tick(who(4), 0, -1, done);
  clock.set_step(who(5), -1, done);
  REQUIRE(done.size() == 5);
  for (const auto& one : done)
    CHECK(one.outcome.kind() == error_kind::invalid_argument);
  CHECK(clock.size() == 0);
  CHECK(clock.declare_again(replica_clock{"c", 2}).ok());
  CHECK_FALSE(clock.declare_again(replica_clock{"c", 3}).ok());
}

TEST_CASE("when all are taken out of a clock, none is waited for") {
  replica_clock clock{"c", 3};
  answers done;
  for (int64_t i = 0; i < 3; ++i)
    clock.join(who(1), i, done);
  clock.tick(who(2), 0, 0, done);
  CHECK(done.size() == 3); // it waits for the others
  clock.leave(who(3), -1, done);
  CHECK(done.size() == 5);
  CHECK(clock.size() == 0);
  clock.tick(who(4), 1, 0, done);
  CHECK(done.size() == 6);
}

TEST_CASE("who waits at a clock is given up with its step, or when the clock is reset") {
  replica_clock clock{"c", 2};
  answers done;
  clock.await_step(who(1, 7), -1, done);
  clock.await_step(who(1, 8), -1, done);
  clock.cancel(step_id{0, 7}, stopped, done);
  REQUIRE(done.size() == 1);
  CHECK(done[0].outcome.kind() == error_kind::cancelled);
  clock.set_step(who(9), 4, done);
  CHECK(done.size() == 3);
  clock.await_step(who(1, 10), 4, done);
  clock.reset(stopped, done);
  CHECK(done.size() == 4);
  CHECK(clock.step() == -1);
}

TEST_CASE("in any order of events, no replica is let go on too far ahead, and none waits in vain") {
  auto seed = GENERATE(take(50, random(0, 1 << 30)));
  std::mt19937 dice{static_cast<unsigned>(seed)};
  INFO("seed " << seed);
  constexpr int count = 5;
  const auto lead = static_cast<int64_t>(dice() % 4);
  replica_clock clock{"c", count};
  std::map<int64_t, int64_t> living; // the steps of each
  std::map<int64_t, uint64_t> waiting;
  uint64_t next = 1;
  auto least = [&] {
    auto it = std::ranges::min_element(living, {}, [](const auto& one) { return one.second; });
    return it == living.end() ? int64_t{0} : it->second;
  };
  for (int i = 0; i < 400; ++i) {
    answers done;
    auto replica = static_cast<int64_t>(dice() % count);
    switch (dice() % 8) {
      case 0:
        living.try_emplace(replica, least());
        clock.join(who(next++), replica, done);
        break;
      case 1:
        living.erase(replica);
        clock.leave(who(next++), replica, done);
        break;
      default:
        if (waiting.contains(replica))
          break;
        ++living.try_emplace(replica, least()).first->second;
        waiting[replica] = next;
        clock.tick(who(next++), replica, lead, done);
    }
    for (const auto& one : done)
      std::erase_if(waiting, [&](const auto& of) { return of.second == one.who.number; });
    for (auto [of, steps] : living) {
      auto may_go = steps - least() <= lead;
      INFO("replica " << of << " has done " << steps << ", the slowest " << least());
      if (waiting.contains(of))
        CHECK_FALSE(may_go);
    }
    for (auto [of, number] : waiting)
      CHECK(living.contains(of));
  }
}

} // namespace troupe::test::replica_clock_test
