#include "tests/support/catch.hpp"
#include "troupe/runtime/state/step_mutex.hpp"

namespace troupe::test::step_mutex_test {

namespace {

request_id request_of(uint64_t number, uint64_t step) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

std::string numbers_of(answers& done) {
  std::string text;
  for (const auto& answered : std::exchange(done, {}))
    text += concat(text.empty() ? "" : " ", answered.id.number, ':',
                   to_string(answered.outcome.kind()));
  return text;
}

} // namespace

TEST_CASE("one step at a time holds a lock, in the order of the requests") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(request_of(1, 10), done);
  lock.lock(request_of(2, 20), done);
  lock.lock(request_of(3, 30), done);
  CHECK(numbers_of(done) == "1:ok");
  lock.end_step({0, 10}, false, done);
  CHECK(numbers_of(done) == "2:ok");
  lock.unlock(request_of(4, 20), done);
  CHECK(numbers_of(done) == "4:ok 3:ok");
}

TEST_CASE("a step that ends releases its lock, and a waiting step leaves the queue") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(request_of(1, 10), done);
  lock.lock(request_of(2, 20), done);
  lock.lock(request_of(3, 30), done);
  lock.cancel(step_id{0, 20}, stopped, done);
  lock.end_step({0, 20}, true, done);
  lock.end_step({0, 10}, true, done);
  CHECK(numbers_of(done) == "1:ok 2:cancelled 3:ok");
}

TEST_CASE("a lock is recursive: it is free after as many unlocks as locks") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(request_of(1, 10), done);
  lock.lock(request_of(2, 20), done);
  lock.lock(request_of(3, 20), done);
  lock.unlock(request_of(4, 10), done);
  CHECK(numbers_of(done) == "1:ok 4:ok 2:ok 3:ok");
  lock.lock(request_of(5, 30), done);
  lock.unlock(request_of(6, 20), done);
  CHECK(numbers_of(done) == "6:ok");
  lock.unlock(request_of(7, 20), done);
  lock.unlock(request_of(8, 20), done);
  CHECK(numbers_of(done) == "7:ok 5:ok 8:failed_precondition");
}

TEST_CASE("a reset revokes a lock, and waiting requests fail") {
  step_mutex lock{"m"};
  answers done;
  lock.lock(request_of(1, 10), done);
  lock.lock(request_of(2, 20), done);
  lock.reset(stopped, done);
  lock.lock(request_of(3, 30), done);
  lock.end_step({0, 10}, false, done); // step 10 holds no lock any more
  lock.lock(request_of(4, 40), done);
  CHECK(numbers_of(done) == "1:ok 2:cancelled 3:ok");
}

} // namespace troupe::test::step_mutex_test
