#include "troupe/actors/deadlines.hpp"

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

} // namespace troupe::test::deadlines_test
