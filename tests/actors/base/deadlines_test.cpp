#include "troupe/actors/base/deadlines.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"

namespace troupe::test::deadlines_test {

using namespace std::chrono_literals;

TEST_CASE("deadlines fire at their time and in order, unless they are removed") {
  actor_world world;
  std::string ran;
  auto actor = world.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    auto timers = std::make_shared<deadlines>();
    auto start = self->clock().now();
    timers->add(self, start + 300ms, [&] { ran += 'c'; });
    timers->add(self, start + 100ms, [&] { ran += 'a'; });
    auto removed_timer = timers->add(self, start + 150ms, [&] { ran += '!'; });
    timers->add(self, start + 200ms, [=, &ran] {
      ran += 'b';
      timers->add(self, self->clock().now() + 50ms, [&] { ran += 'x'; });
    });
    timers->remove(removed_timer);
    return {[=](wake_atom) { timers->wake(self); }};
  });
  world.run();
  world.advance_and_run(99ms);
  CHECK(ran.empty());
  world.advance_and_run(1ms);
  CHECK(ran == "a");
  world.advance_and_run(100ms);
  CHECK(ran == "ab");
  world.advance_and_run(49ms);
  CHECK(ran == "ab");
  world.advance_and_run(1s);
  CHECK(ran == "abxc");
}

TEST_CASE("near deadlines among far ones leave no messages under way") {
  actor_world world;
  int run_count = 0;
  auto actor = world.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    auto timers = std::make_shared<deadlines>();
    timers->add(self, self->clock().now() + 1h, [] {});
    return {[=](wake_atom) { timers->wake(self); },
            [=, &run_count](int ms) {
              timers->add(self, self->clock().now() + std::chrono::milliseconds{ms},
                          [&] { ++run_count; });
            }};
  });
  for (int i = 0; i < 100; ++i) {
    caf::anon_send(actor, 5);
    world.run();
    world.advance_and_run(5ms);
    REQUIRE(run_count == i + 1);
  }
  CHECK(world.timers() <= 2);
}

} // namespace troupe::test::deadlines_test
