#include "troupe/runtime/platform/sharded_refcount.hpp"

#include "tests/support/catch.hpp"

#include <thread>
#include <vector>

namespace troupe::test::sharded_refcount_test {

TEST_CASE("closing an unused object destroys it") {
  sharded_refcount users;
  auto inside = users.enter();
  REQUIRE(inside);
  CHECK_FALSE(users.leave(inside));
  CHECK(users.close());
  CHECK_FALSE(users.enter());
}

TEST_CASE("the last user destroys an object that was closed meanwhile") {
  sharded_refcount users;
  auto first = users.enter(), second = users.enter();
  CHECK_FALSE(users.close());
  CHECK_FALSE(users.enter());
  CHECK_FALSE(users.leave(second));
  CHECK(users.leave(first));
}

TEST_CASE(
    "users that move from core to core leave nothing alive behind them, and use nothing dead") {
  for (int round = 0; round < 200; ++round) {
    sharded_refcount users;
    std::atomic<bool> alive{true}, used_dead{false};
    std::atomic<int> destroyed{0};
    auto destroy = [&] {
      alive = false;
      ++destroyed;
    };
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
          while (auto inside = users.enter()) {
            if (!alive)
              used_dead = true;
            if (users.leave(inside))
              destroy();
          }
        });
      std::this_thread::yield();
      if (users.close())
        destroy();
    }
    REQUIRE(destroyed == 1);
    REQUIRE_FALSE(used_dead);
  }
}

} // namespace troupe::test::sharded_refcount_test
