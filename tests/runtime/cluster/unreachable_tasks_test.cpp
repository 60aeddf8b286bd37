#include "troupe/runtime/cluster/unreachable_tasks.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::unreachable_tasks_test {

using namespace std::chrono_literals;

TEST_CASE("a task is lost if it is still not found some time after the first search") {
  const task_name task{"worker", 0};
  const unreachable_tasks::time_point begin{1h};
  unreachable_tasks sought{5s, 250ms};
  CHECK(sought.begin_search(task, begin) == begin + 5s);
  CHECK(sought.begin_search(task, begin + 2s) ==
        begin + 5s);            // independent of the number of searches
  CHECK(sought.lost().empty()); // the search may have had no time
  sought.note_lost(task, begin + 5s);
  CHECK(sought.lost() == std::set{task});
  // It may have returned meanwhile, and a search takes a moment.
  CHECK(sought.begin_search(task, begin + 1h) == begin + 1h + 250ms);
  CHECK(sought.take_report(task));
  CHECK(!sought.take_report(task));
  sought.note_found(task);
  CHECK(sought.lost().empty());
  CHECK(!sought.take_report(task));
  CHECK(sought.begin_search(task, begin + 2h) == begin + 2h + 5s); // a new loss
  CHECK(sought.take_report(task));
  sought.note_found(task);
  sought.note_lost(task, begin + 3h); // immediately
  CHECK(sought.lost() == std::set{task});
  CHECK(sought.begin_search(task, begin + 3h) == begin + 3h + 250ms);
  sought.keep_only({task});
  CHECK(sought.lost() == std::set{task});
  sought.keep_only({});
  CHECK(sought.lost().empty());
}

TEST_CASE("an interrupted search long ago does not count") {
  const task_name task{"worker", 0};
  const unreachable_tasks::time_point begin{1h};
  unreachable_tasks sought{5s, 250ms};
  sought.begin_search(task, begin);
  CHECK(sought.begin_search(task, begin + 60s) == begin + 65s);
  CHECK(sought.begin_search(task, begin + 62s) == begin + 65s);
}

} // namespace troupe::test::unreachable_tasks_test
