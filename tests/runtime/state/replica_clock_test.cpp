#include "tests/support/catch.hpp"
#include "troupe/runtime/state/replica_clock.hpp"

#include <algorithm>
#include <map>
#include <random>

namespace troupe::test::replica_clock_test {
namespace {

request_id request_of(uint64_t number, uint64_t step = 1) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

int64_t given(const answer& answered) { return *answered.tensors.at(0).data<int64_t>(); }

} // namespace

TEST_CASE("waiting replicas proceed when another step is set, even an earlier one") {
  replica_clock clock{"c", 2};
  answers done;
  clock.await_step(request_of(1), -1, done);
  CHECK(done.empty());
  clock.set_step(request_of(2), 7, done);
  REQUIRE(done.size() == 2);
  CHECK(done[0].id == request_of(2));
  CHECK(given(done[1]) == 7);
  clock.await_step(request_of(3), 7, done);
  CHECK(done.size() == 2);
  clock.await_step(request_of(4), 5, done); // a late request proceeds at once
  REQUIRE(done.size() == 3);
  CHECK(given(done[2]) == 7);
  clock.set_step(request_of(5), 7, done);
  CHECK(done.size() == 4);
  clock.set_step(request_of(6), 3, done);
  REQUIRE(done.size() == 6);
  CHECK(given(done[5]) == 3);
  CHECK(clock.step() == 3);
}

TEST_CASE("a replica waits for the slowest active one, and for none that has left") {
  replica_clock clock{"c", 3};
  answers done;
  for (int64_t i = 0; i < 3; ++i)
    clock.join(request_of(10), i, done);
  done.clear();
  clock.tick(request_of(1), 0, 1, done);
  CHECK(given(done.at(0)) == 1);
  clock.tick(request_of(2), 0, 1, done); // replica 0 is two steps ahead
  CHECK(done.size() == 1);
  clock.tick(request_of(3), 1, 1, done);
  CHECK(done.size() == 2); // the third replica has done no step
  clock.leave(request_of(4), 2, done);
  REQUIRE(done.size() == 4);
  CHECK(done[3].id == request_of(2));
  CHECK(given(done[3]) == 2);
  // It returns with the steps of the slowest.
  clock.tick(request_of(5), 2, 1, done);
  CHECK(given(done.at(4)) == 2);
  CHECK(clock.size() == 3);
}

TEST_CASE("a clock refuses unknown replicas, and negative steps and leads") {
  replica_clock clock{"c", 2};
  answers done;
  clock.join(request_of(1), 2, done);
  clock.leave(request_of(2), -2, done);
  clock.tick(request_of(3), 9, 1, done);
  clock.tick(request_of(4), 0, -1, done);
  clock.set_step(request_of(5), -1, done);
  REQUIRE(done.size() == 5);
  for (const auto& answered : done)
    CHECK(answered.outcome.kind() == error_kind::invalid_argument);
  CHECK(clock.size() == 0);
  CHECK(clock.declare_again(replica_clock{"c", 2}).ok());
  CHECK_FALSE(clock.declare_again(replica_clock{"c", 3}).ok());
}

TEST_CASE("when all replicas have left a clock, no request waits") {
  replica_clock clock{"c", 3};
  answers done;
  for (int64_t i = 0; i < 3; ++i)
    clock.join(request_of(1), i, done);
  clock.tick(request_of(2), 0, 0, done);
  CHECK(done.size() == 3); // the fourth waits for the others
  clock.leave(request_of(3), -1, done);
  CHECK(done.size() == 5);
  CHECK(clock.size() == 0);
  clock.tick(request_of(4), 1, 0, done);
  CHECK(done.size() == 6);
}

TEST_CASE(
    "a request that waits at a clock is cancelled with its step, or when the clock is reset") {
  replica_clock clock{"c", 2};
  answers done;
  clock.await_step(request_of(1, 7), -1, done);
  clock.await_step(request_of(1, 8), -1, done);
  clock.cancel(step_id{0, 7}, stopped, done);
  REQUIRE(done.size() == 1);
  CHECK(done[0].outcome.kind() == error_kind::cancelled);
  clock.set_step(request_of(9), 4, done);
  CHECK(done.size() == 3);
  clock.await_step(request_of(1, 10), 4, done);
  clock.reset(stopped, done);
  CHECK(done.size() == 4);
  CHECK(clock.step() == -1);
}

TEST_CASE("no replica gets too far ahead, and none waits forever, in any order of events") {
  auto seed = GENERATE(take(50, random(0, 1 << 30)));
  std::mt19937 dice{static_cast<unsigned>(seed)};
  INFO("seed " << seed);
  constexpr int count = 5;
  const auto lead = static_cast<int64_t>(dice() % 4);
  replica_clock clock{"c", count};
  std::map<int64_t, int64_t> living; // the steps of each active replica
  std::map<int64_t, uint64_t> waiting;
  uint64_t next = 1;
  auto slowest = [&] {
    auto minimum =
        std::ranges::min_element(living, {}, [](const auto& entry) { return entry.second; });
    return minimum == living.end() ? int64_t{0} : minimum->second;
  };
  for (int i = 0; i < 400; ++i) {
    answers done;
    auto replica = static_cast<int64_t>(dice() % count);
    switch (dice() % 8) {
      case 0:
        living.try_emplace(replica, slowest());
        clock.join(request_of(next++), replica, done);
        break;
      case 1:
        living.erase(replica);
        clock.leave(request_of(next++), replica, done);
        break;
      default:
        if (waiting.contains(replica))
          break;
        ++living.try_emplace(replica, slowest()).first->second;
        waiting[replica] = next;
        clock.tick(request_of(next++), replica, lead, done);
    }
    for (const auto& answered : done)
      std::erase_if(waiting,
                    [&](const auto& waiter) { return waiter.second == answered.id.number; });
    for (auto [waiting_replica, steps] : living) {
      auto may_go = steps - slowest() <= lead;
      INFO("replica " << waiting_replica << " has done " << steps << ", the slowest " << slowest());
      if (waiting.contains(waiting_replica))
        CHECK_FALSE(may_go);
    }
    for (auto [waiting_replica, number] : waiting)
      CHECK(living.contains(waiting_replica));
  }
}

} // namespace troupe::test::replica_clock_test
