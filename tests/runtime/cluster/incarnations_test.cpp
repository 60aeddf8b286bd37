#include "troupe/runtime/cluster/incarnations.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::incarnations_test {

TEST_CASE("a task that has been replaced is refused, the latest may come again") {
  incarnations known;
  CHECK(known.meet("/job:ps/task:0", 5).ok());
  CHECK(known.meet("/job:ps/task:0", 5).ok());
  CHECK(known.meet("/job:ps/task:1", 6).ok());
  CHECK(known.meet("/job:ps/task:0", 7).ok());
  auto stale = known.meet("/job:ps/task:0", 5);
  CHECK(stale.kind() == error_kind::failed_precondition);
  CHECK(stale.message().find("has been replaced by 7") != std::string::npos);
  CHECK(known.meet("/job:ps/task:0", 7).ok());
  CHECK(known.meet("/job:ps/task:1", 6).ok());
}

TEST_CASE("an old process that is met late does not take its successor's place") {
  incarnations known;
  CHECK(known.meet("/job:ps/task:0", 7).ok());
  CHECK(!known.meet("/job:ps/task:0", 5).ok()); // it calls for the first time
  CHECK(known.meet("/job:ps/task:0", 7).ok());

  incarnations misled; // the old one was met first
  CHECK(misled.meet("/job:ps/task:0", 5).ok());
  CHECK(misled.meet("/job:ps/task:0", 7, true).ok());
  CHECK(!misled.meet("/job:ps/task:0", 5).ok());
}

TEST_CASE("who answers at a task's address is the task, whatever its clock says") {
  incarnations known;
  CHECK(known.meet("/job:ps/task:0", 9).ok());
  CHECK(known.meet("/job:ps/task:0", 7, true).ok());
  CHECK(!known.meet("/job:ps/task:0", 9).ok());
  CHECK(known.meet("/job:ps/task:0", 7).ok());
  CHECK(known.meet("/job:ps/task:0", 9, true).ok());
  CHECK(!known.meet("/job:ps/task:0", 7).ok());
}

TEST_CASE("of very many incarnations the latest are remembered") {
  incarnations known;
  for (uint64_t incarnation = 1; incarnation <= 1000; ++incarnation)
    CHECK(known.meet("/job:ps/task:0", incarnation).ok());
  CHECK(!known.meet("/job:ps/task:0", 999).ok());
  CHECK(!known.meet("/job:ps/task:0", 940).ok());
}

TEST_CASE(
    "who calls under ever new names is refused, known tasks and those that are called are not") {
  incarnations known;
  CHECK(known.meet("/job:ps/task:0", 5).ok());
  for (size_t i = 1; i < incarnations::most_tasks; ++i)
    REQUIRE(known.meet(concat("/job:worker/task:", i), 5).ok());
  auto refused = known.meet("/job:new/task:0", 5);
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK(refused.message().find("16384 names") != std::string::npos);
  CHECK(known.meet("/job:ps/task:0", 6).ok());
  CHECK(known.meet("/job:new/task:0", 5, true).ok());
  CHECK(known.meet("/job:new/task:0", 6).ok());
}

} // namespace troupe::test::incarnations_test
