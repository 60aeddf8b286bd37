#include "tests/support/catch.hpp"
#include "troupe/runtime/cluster/held_state.hpp"

#include <map>
#include <random>

namespace troupe::test::held_state_test {

using check_result = held_state::check_result;

TEST_CASE("state on a task is lost with its incarnation, and the loss is found once") {
  held_state state;
  const task_name ps{"ps", 0}, worker{"worker", 0};
  CHECK(state.use(ps, 1) == check_result::present);
  CHECK(state.use(ps, 1) == check_result::present);
  CHECK(state.use(worker, 7) == check_result::present);
  CHECK(state.use(ps, 2) == check_result::lost_unreported);
  CHECK(state.use(ps, 2) == check_result::present);
  CHECK(state.use(worker, 7) == check_result::present);
}

TEST_CASE("a client that learned of a loss from a failed step is not notified again") {
  held_state state;
  const task_name ps{"ps", 0};
  state.note_reported(ps); // the session has no state there
  CHECK(state.use(ps, 1) == check_result::present);
  state.note_reported(ps);
  CHECK(state.use(ps, 2) == check_result::lost);
  CHECK(state.use(ps, 3) == check_result::lost_unreported); // lost again meanwhile
}

TEST_CASE("an error before a task was found unchanged does not report a later loss") {
  held_state state;
  const task_name ps{"ps", 0}, other{"ps", 1};
  CHECK(state.use(ps, 1) == check_result::present);
  state.note_reported(ps);
  CHECK(state.use(ps, 1) == check_result::present); // only the link was lost, not the task
  CHECK(state.use(ps, 2) == check_result::lost_unreported);
  state.note_reported(ps);
  state.note_used(other);
  state.note_used(ps); // another step uses the state
  CHECK(state.use(ps, 3) == check_result::lost_unreported);
  state.note_reported(ps);
  state.note_used(other);
  CHECK(state.use(ps, 4) == check_result::lost);
}

TEST_CASE("each loss is found by the next step that uses the task") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  held_state state;
  std::map<int, uint64_t> now, seen;
  for (int i = 0; i < 10'000; ++i) {
    auto event = static_cast<int>(random() % 4);
    const task_name task{"ps", event};
    auto& incarnation = now[event];
    switch (random() % 3) {
      case 0: ++incarnation; break;
      case 1: state.note_reported(task); break;
      default: {
        auto is_lost = seen.contains(event) && seen[event] != incarnation;
        CHECK((state.use(task, incarnation) != check_result::present) == is_lost);
        seen[event] = incarnation;
      }
    }
  }
}

} // namespace troupe::test::held_state_test
