#include "tests/support/catch.hpp"
#include "troupe/runtime/state/usage_meter.hpp"

namespace troupe::test::usage_meter_test {

TEST_CASE("a meter tells mean sizes, and who has waited how long") {
  usage_meter meter{moment{1000, 0}}; // a tick is a nanosecond
  meter.advance(0, 1000);
  meter.came(usage_meter::takes);
  meter.waits(usage_meter::takes);
  meter.advance(0, 1400);
  meter.came(usage_meter::takes);
  meter.waits(usage_meter::takes);
  meter.advance(3, 1500);
  meter.waited(usage_meter::takes);
  meter.advance(5, 1600);
  meter.waited(usage_meter::takes);
  meter.advance(-1, 2000); // counts nothing
  auto found = meter.so_far({2000, 1000});
  CHECK(found.seconds == Approx(1000e-9));
  CHECK(found.mean_size == Approx((3 * 100 + 5 * 100) / 1000.0));
  CHECK(found.takes.requests == 2);
  CHECK(found.takes.total_seconds == Approx((600 + 100) * 1e-9));
  CHECK(found.takes.some_seconds == Approx(600e-9));
  CHECK(found.puts.requests == 0);
  CHECK(found.puts.total_seconds == 0);
}

} // namespace troupe::test::usage_meter_test
