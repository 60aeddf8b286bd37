#include "troupe/runtime/cluster/unreachable_tasks.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::unreachable_tasks_test {

using namespace std::chrono_literals;

TEST_CASE("a task is lost if it is still not found some time after the first search") {
  const task_name task{"worker", 0};
  const unreachable_tasks::time_point begin{1h};
  unreachable_tasks sought{5s, 250ms};
  CHECK(sought.seek(task, begin) == begin + 5s);
  CHECK(sought.seek(task, begin + 2s) == begin + 5s); // independent of the number of searches
  CHECK(sought.lost().empty());                       // the search may have had no time
  sought.lose(task, begin + 5s);
  CHECK(sought.lost() == std::set{task});
  // It may have returned meanwhile, and a search takes a moment.
  CHECK(sought.seek(task, begin + 1h) == begin + 1h + 250ms);
  CHECK(sought.tell(task));
  CHECK(!sought.tell(task));
  sought.found(task);
  CHECK(sought.lost().empty());
  CHECK(!sought.tell(task));
  CHECK(sought.seek(task, begin + 2h) == begin + 2h + 5s); // a new loss
  CHECK(sought.tell(task));
  sought.found(task);
  sought.lose(task, begin + 3h); // immediately
  CHECK(sought.lost() == std::set{task});
  CHECK(sought.seek(task, begin + 3h) == begin + 3h + 250ms);
  sought.keep_only({task});
  CHECK(sought.lost() == std::set{task});
  sought.keep_only({});
  CHECK(sought.lost().empty());
}

TEST_CASE("an interrupted search long ago does not count") {
  const task_name task{"worker", 0};
  const unreachable_tasks::time_point begin{1h};
  unreachable_tasks sought{5s, 250ms};
  sought.seek(task, begin);
  CHECK(sought.seek(task, begin + 60s) == begin + 65s);
  CHECK(sought.seek(task, begin + 62s) == begin + 65s);
}

} // namespace troupe::test::unreachable_tasks_test
