#include "troupe/runtime/cluster/incarnations.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::incarnations_test {

TEST_CASE("a replaced task is refused; the latest incarnation may call again") {
  incarnations newest;
  CHECK(newest.register_task("/job:ps/task:0", 5).ok());
  CHECK(newest.register_task("/job:ps/task:0", 5).ok());
  CHECK(newest.register_task("/job:ps/task:1", 6).ok());
  CHECK(newest.register_task("/job:ps/task:0", 7).ok());
  auto stale = newest.register_task("/job:ps/task:0", 5);
  CHECK(stale.kind() == error_kind::failed_precondition);
  CHECK(stale.message().find("has been replaced by 7") != std::string::npos);
  CHECK(newest.register_task("/job:ps/task:0", 7).ok());
  CHECK(newest.register_task("/job:ps/task:1", 6).ok());
}

TEST_CASE("an old process that calls late does not replace its successor") {
  incarnations newest;
  CHECK(newest.register_task("/job:ps/task:0", 7).ok());
  CHECK(!newest.register_task("/job:ps/task:0", 5).ok()); // its first call
  CHECK(newest.register_task("/job:ps/task:0", 7).ok());

  incarnations misled; // the old process called first
  CHECK(misled.register_task("/job:ps/task:0", 5).ok());
  CHECK(misled.register_task("/job:ps/task:0", 7, true).ok());
  CHECK(!misled.register_task("/job:ps/task:0", 5).ok());
}

TEST_CASE("a process that answers at a task's address is the task, independent of its clock") {
  incarnations newest;
  CHECK(newest.register_task("/job:ps/task:0", 9).ok());
  CHECK(newest.register_task("/job:ps/task:0", 7, true).ok());
  CHECK(!newest.register_task("/job:ps/task:0", 9).ok());
  CHECK(newest.register_task("/job:ps/task:0", 7).ok());
  CHECK(newest.register_task("/job:ps/task:0", 9, true).ok());
  CHECK(!newest.register_task("/job:ps/task:0", 7).ok());
}

TEST_CASE("the latest of very many incarnations are remembered") {
  incarnations newest;
  for (uint64_t incarnation = 1; incarnation <= 1000; ++incarnation)
    CHECK(newest.register_task("/job:ps/task:0", incarnation).ok());
  CHECK(!newest.register_task("/job:ps/task:0", 999).ok());
  CHECK(!newest.register_task("/job:ps/task:0", 940).ok());
}

TEST_CASE(
    "who calls under ever new names is refused, known tasks and those that are called are not") {
  incarnations newest;
  CHECK(newest.register_task("/job:ps/task:0", 5).ok());
  for (size_t i = 1; i < incarnations::max_tasks; ++i)
    REQUIRE(newest.register_task(concat("/job:worker/task:", i), 5).ok());
  auto refused = newest.register_task("/job:new/task:0", 5);
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK(refused.message().find("16384 names") != std::string::npos);
  CHECK(newest.register_task("/job:ps/task:0", 6).ok());
  CHECK(newest.register_task("/job:new/task:0", 5, true).ok());
  CHECK(newest.register_task("/job:new/task:0", 6).ok());
}

} // namespace troupe::test::incarnations_test
