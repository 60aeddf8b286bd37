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

TEST_CASE("of very many incarnations the latest are remembered") {
  incarnations known;
  for (uint64_t incarnation = 1; incarnation <= 1000; ++incarnation)
    CHECK(known.meet("/job:ps/task:0", incarnation).ok());
  CHECK(!known.meet("/job:ps/task:0", 999).ok());
  CHECK(!known.meet("/job:ps/task:0", 940).ok());
}

} // namespace troupe::test::incarnations_test
