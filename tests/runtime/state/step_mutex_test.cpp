#include "tests/support/catch.hpp"
#include "troupe/runtime/state/step_mutex.hpp"

namespace troupe::test::step_mutex_test {

namespace {

request_id who(uint64_t number, uint64_t step) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

std::string numbers_of(answers& done) {
  std::string text;
  for (const auto& one : std::exchange(done, {}))
    text += concat(text.empty() ? "" : " ", one.who.number, ':', to_string(one.outcome.kind()));
  return text;
}

} // namespace

TEST_CASE("one step holds a lock at a time, in the order in which they asked") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(who(1, 10), done);
  lock.lock(who(2, 20), done);
  lock.lock(who(3, 30), done);
  CHECK(numbers_of(done) == "1:ok");
  lock.settle({0, 10}, false, done);
  CHECK(numbers_of(done) == "2:ok");
  lock.unlock(who(4, 20), done);
  CHECK(numbers_of(done) == "4:ok 3:ok");
}

TEST_CASE("a step that dies lets go of its lock, and one that waits leaves the line") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(who(1, 10), done);
  lock.lock(who(2, 20), done);
  lock.lock(who(3, 30), done);
  lock.cancel(step_id{0, 20}, stopped, done);
  lock.settle({0, 20}, true, done);
  lock.settle({0, 10}, true, done);
  CHECK(numbers_of(done) == "1:ok 2:cancelled 3:ok");
}

TEST_CASE("a step that asks again has the lock, until it has let go as often") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(who(1, 10), done);
  lock.lock(who(2, 20), done);
  lock.lock(who(3, 20), done);
  lock.unlock(who(4, 10), done);
  CHECK(numbers_of(done) == "1:ok 4:ok 2:ok 3:ok");
  lock.lock(who(5, 30), done);
  lock.unlock(who(6, 20), done);
  CHECK(numbers_of(done) == "6:ok");
  lock.unlock(who(7, 20), done);
  lock.unlock(who(8, 20), done);
  CHECK(numbers_of(done) == "7:ok 5:ok 8:failed_precondition");
}

TEST_CASE("a reset takes a lock away, and who waits is told") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(who(1, 10), done);
  lock.lock(who(2, 20), done);
  lock.reset(stopped, done);
  lock.lock(who(3, 30), done);
  lock.settle({0, 10}, false, done); // it holds nothing any more
  lock.lock(who(4, 40), done);
  CHECK(numbers_of(done) == "1:ok 2:cancelled 3:ok");
}

} // namespace troupe::test::step_mutex_test
