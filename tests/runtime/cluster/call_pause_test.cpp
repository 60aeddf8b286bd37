#include "troupe/runtime/cluster/call_pause.hpp"

#include "tests/support/catch.hpp"

#include <random>

namespace troupe::test::call_pause_test {

using namespace std::chrono_literals;

TEST_CASE("the pause until an address is called again doubles, up to a limit") {
  call_pause pause;
  constexpr uint64_t most = 0;
  std::vector<std::chrono::milliseconds> least;
  for (int i = 0; i < 8; ++i)
    least.push_back(pause.next(0ms, 8s, most));
  CHECK(least == std::vector<std::chrono::milliseconds>{100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms,
                                                        4000ms, 4000ms});
  CHECK(pause.next(0ms, 1s, most) == 500ms); // at once where it may be less
  pause.reset();
  CHECK(pause.next(0ms, 8s, most) == 100ms);
}

TEST_CASE("a pause is drawn, and counts from the beginning of the call that failed") {
  std::mt19937_64 chance{7};
  call_pause pause;
  for (int i = 0; i < 10; ++i)
    (void)pause.next(0ms, 1s, chance());
  auto least = 10s, most = 0s;
  std::chrono::milliseconds low{least}, high{most};
  for (int i = 0; i < 200; ++i) {
    auto drawn = pause.next(0ms, 1s, chance());
    low = std::min(low, drawn);
    high = std::max(high, drawn);
    CHECK(pause.next(1s, 1s, chance()) == call_pause::shortest); // the call took that long
  }
  CHECK(low >= 500ms);
  CHECK(low < 550ms);
  CHECK(high <= 1s);
  CHECK(high > 950ms);
}

} // namespace troupe::test::call_pause_test
