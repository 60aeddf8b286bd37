#include "tests/support/catch.hpp"
#include "troupe/runtime/state/usage_meter.hpp"

namespace troupe::test::usage_meter_test {

TEST_CASE("a meter reports mean sizes, and the waiting times of puts and takes") {
  usage_meter meter{moment{1000, 0}}; // a tick is a nanosecond
  meter.advance(0, 1000);
  meter.count_arrival(usage_meter::takes);
  meter.begin_wait(usage_meter::takes);
  meter.advance(0, 1400);
  meter.count_arrival(usage_meter::takes);
  meter.begin_wait(usage_meter::takes);
  meter.advance(3, 1500);
  meter.end_wait(usage_meter::takes);
  meter.advance(5, 1600);
  meter.end_wait(usage_meter::takes);
  meter.advance(-1, 2000); // a negative size is ignored
  auto usage = meter.usage({2000, 1000});
  CHECK(usage.seconds == Approx(1000e-9));
  CHECK(usage.mean_size == Approx((3 * 100 + 5 * 100) / 1000.0));
  CHECK(usage.takes.requests == 2);
  CHECK(usage.takes.total_seconds == Approx((600 + 100) * 1e-9));
  CHECK(usage.takes.any_waiting_seconds == Approx(600e-9));
  CHECK(usage.puts.requests == 0);
  CHECK(usage.puts.total_seconds == 0);
}

} // namespace troupe::test::usage_meter_test
