#include "troupe/runtime/cluster/call_pause.hpp"

#include "tests/support/catch.hpp"

#include <random>

namespace troupe::test::call_pause_test {

using namespace std::chrono_literals;

TEST_CASE("the pause until an address is called again doubles, up to a limit") {
  call_pause pause;
  constexpr uint64_t longest_draw = 0;
  std::vector<std::chrono::milliseconds> pauses;
  for (int i = 0; i < 8; ++i)
    pauses.push_back(pause.next(0ms, 8s, longest_draw));
  CHECK(pauses == std::vector<std::chrono::milliseconds>{100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms,
                                                         4000ms, 4000ms});
  CHECK(pause.next(0ms, 1s, longest_draw) == 500ms); // at once where a shorter pause is possible
  pause.reset();
  CHECK(pause.next(0ms, 8s, longest_draw) == 100ms);
}

TEST_CASE("a pause is random, and counts from the start of the failed call") {
  std::mt19937_64 chance{7};
  call_pause pause;
  for (int i = 0; i < 10; ++i)
    (void)pause.next(0ms, 1s, chance());
  auto shortest = 10s, longest = 0s;
  std::chrono::milliseconds low{shortest}, high{longest};
  for (int i = 0; i < 200; ++i) {
    auto drawn_pause = pause.next(0ms, 1s, chance());
    low = std::min(low, drawn_pause);
    high = std::max(high, drawn_pause);
    CHECK(pause.next(1s, 1s, chance()) == call_pause::shortest); // the call itself took that long
  }
  CHECK(low >= 500ms);
  CHECK(low < 550ms);
  CHECK(high <= 1s);
  CHECK(high > 950ms);
}

} // namespace troupe::test::call_pause_test
