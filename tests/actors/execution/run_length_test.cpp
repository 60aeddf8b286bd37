#include "troupe/actors/execution/run_length.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::run_length_test {

using namespace std::chrono_literals;

TEST_CASE("a run that was put off once does not count as long") {
  run_length of;
  of.took(3us);
  of.took(50ms);
  CHECK(!of.often_long());
  for (int i = 0; i < 16; ++i)
    of.took(3us);
  of.took(50ms);
  CHECK(!of.often_long());
}

TEST_CASE("what takes long the first time is taken for long at once") {
  run_length of;
  of.took(1ms);
  CHECK(of.often_long());
  of.took(3us);
  CHECK(!of.often_long());
}

TEST_CASE("what takes long again counts as long, until it is brief again") {
  run_length of;
  for (int i = 0; i < 1000; ++i)
    of.took(1ms);
  CHECK(of.often_long());
  of.took(3us);
  CHECK(of.often_long());
  for (int i = 0; i < 64; ++i)
    of.took(3us);
  CHECK(!of.often_long());
}

} // namespace troupe::test::run_length_test
