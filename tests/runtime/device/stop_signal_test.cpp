#include "tests/support/catch.hpp"
#include "troupe/runtime/device/stop_signal.hpp"

namespace troupe::test::stop_signal_test {

namespace {

const auto past = stop_signal::clock::now();
const auto far_future = past + std::chrono::hours{24};

} // namespace

TEST_CASE("a stop signal without a deadline is due when it is raised") {
  stop_signal stop;
  CHECK_FALSE(stop.is_due());
  stop.raise();
  CHECK(stop.raised());
  CHECK(stop.is_due());
  CHECK_FALSE(stop.is_late());
}

TEST_CASE("a stop signal is due at its deadline, and raised once it has been checked") {
  stop_signal stop{past};
  CHECK_FALSE(stop.raised());
  CHECK(stop.is_due());
  CHECK(stop.raised());
  CHECK(stop.is_late());
  stop_signal later{far_future};
  CHECK_FALSE(later.is_due());
}

TEST_CASE("the first reason to stop is kept") {
  stop_signal stop{past};
  stop.raise();
  CHECK(stop.is_due());
  CHECK_FALSE(stop.is_late());
  stop.arm(past);
  CHECK(stop.is_due());
  stop.raise();
  CHECK(stop.is_late());
}

TEST_CASE("a stop signal that is armed again has forgotten the step before") {
  stop_signal stop{past};
  CHECK(stop.is_due());
  stop.arm();
  CHECK_FALSE(stop.raised());
  CHECK_FALSE(stop.is_due());
}

} // namespace troupe::test::stop_signal_test
