#include "troupe/actors/base/deadlines.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"

namespace troupe::test::deadlines_test {

using namespace std::chrono_literals;

TEST_CASE("what is due is done at its time, in order, unless it is removed") {
  actor_world world;
  std::string done;
  auto actor = world.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    auto due = std::make_shared<deadlines>();
    auto start = self->clock().now();
    due->add(self, start + 300ms, [&] { done += 'c'; });
    due->add(self, start + 100ms, [&] { done += 'a'; });
    auto never = due->add(self, start + 150ms, [&] { done += '!'; });
    due->add(self, start + 200ms, [=, &done] {
      done += 'b';
      due->add(self, self->clock().now() + 50ms, [&] { done += 'x'; });
    });
    due->remove(never);
    return {[=](wake_atom) { due->wake(self); }};
  });
  world.run();
  world.pass(99ms);
  CHECK(done.empty());
  world.pass(1ms);
  CHECK(done == "a");
  world.pass(100ms);
  CHECK(done == "ab");
  world.pass(49ms);
  CHECK(done == "ab");
  world.pass(1s);
  CHECK(done == "abxc");
}

TEST_CASE("near deadlines among far ones leave no messages under way") {
  actor_world world;
  int done = 0;
  auto actor = world.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    auto due = std::make_shared<deadlines>();
    due->add(self, self->clock().now() + 1h, [] {});
    return {[=](wake_atom) { due->wake(self); },
            [=, &done](int ms) {
              due->add(self, self->clock().now() + std::chrono::milliseconds{ms}, [&] { ++done; });
            }};
  });
  for (int i = 0; i < 100; ++i) {
    caf::anon_send(actor, 5);
    world.run();
    world.pass(5ms);
    REQUIRE(done == i + 1);
  }
  CHECK(world.timers() <= 2);
}

} // namespace troupe::test::deadlines_test
