#include "tests/support/catch.hpp"
#include "troupe/runtime/cluster/held_state.hpp"

#include <map>
#include <random>

namespace troupe::test::held_state_test {

using found = held_state::found;

TEST_CASE("state on a task is lost with its incarnation, and that is found once") {
  held_state held;
  const task_name ps{"ps", 0}, worker{"worker", 0};
  CHECK(held.use(ps, 1) == found::there);
  CHECK(held.use(ps, 1) == found::there);
  CHECK(held.use(worker, 7) == found::there);
  CHECK(held.use(ps, 2) == found::lost_unsaid);
  CHECK(held.use(ps, 2) == found::there);
  CHECK(held.use(worker, 7) == found::there);
}

TEST_CASE("who was told by a step that failed is not told again") {
  held_state held;
  const task_name ps{"ps", 0};
  held.tell(ps); // nothing of the session's is there
  CHECK(held.use(ps, 1) == found::there);
  held.tell(ps);
  CHECK(held.use(ps, 2) == found::lost);
  CHECK(held.use(ps, 3) == found::lost_unsaid); // lost again since
}

TEST_CASE("an error from before a task was found as it had been says nothing of a later loss") {
  held_state held;
  const task_name ps{"ps", 0}, other{"ps", 1};
  CHECK(held.use(ps, 1) == found::there);
  held.tell(ps);
  CHECK(held.use(ps, 1) == found::there); // the link was lost, not the task
  CHECK(held.use(ps, 2) == found::lost_unsaid);
  held.tell(ps);
  held.reach(other);
  held.reach(ps); // another step uses what is there
  CHECK(held.use(ps, 3) == found::lost_unsaid);
  held.tell(ps);
  held.reach(other);
  CHECK(held.use(ps, 4) == found::lost);
}

TEST_CASE("whatever happens, each loss is found by the next step that uses the task") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  held_state held;
  std::map<int, uint64_t> now, seen;
  for (int i = 0; i < 10'000; ++i) {
    auto which = static_cast<int>(random() % 4);
    const task_name task{"ps", which};
    auto& incarnation = now[which];
    switch (random() % 3) {
      case 0: ++incarnation; break;
      case 1: held.tell(task); break;
      default: {
        auto lost = seen.contains(which) && seen[which] != incarnation;
        CHECK((held.use(task, incarnation) != found::there) == lost);
        seen[which] = incarnation;
      }
    }
  }
}

} // namespace troupe::test::held_state_test
