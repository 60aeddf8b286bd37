#include "tests/support/catch.hpp"
#include "troupe/runtime/insight/flight_recorder.hpp"

#include <thread>

namespace troupe::test::flight_recorder_test {

TEST_CASE("a recorder returns the last events of one step, oldest first") {
  auto recorder = std::make_unique<flight_recorder>();
  auto start = steady_ns();
  recorder->note(flight_event::step_began, 7);
  recorder->note(flight_event::step_began, 8);
  recorder->note(flight_event::region_ran, 7, 2, 3);
  recorder->note(flight_event::sent, 7, 1, 70'000);
  auto events = recorder->last_events(7, 10);
  REQUIRE(events.size() == 3);
  CHECK(events[0].kind == flight_event::step_began);
  CHECK(events[1].kind == flight_event::region_ran);
  CHECK(events[1].program == 2);
  CHECK(events[1].index == 3);
  CHECK(events[2].index == 70'000);
  CHECK(events[0].ns >= start - 1'000'000);
  CHECK(events[2].ns <= steady_ns() + 1'000'000);
  CHECK(recorder->last_events(7, 2).front().kind == flight_event::region_ran);
  CHECK(recorder->last_events(9, 10).empty());
}

TEST_CASE("a recorder forgets the oldest events, not the newest") {
  auto recorder = std::make_unique<flight_recorder>();
  recorder->note(flight_event::step_began, 1);
  for (uint32_t i = 0; i < 100'000; ++i)
    recorder->note(flight_event::region_ran, 2, 0, i);
  CHECK(recorder->last_events(1, 10).empty());
  auto events = recorder->last_events(2, 10);
  REQUIRE(events.size() == 10);
  CHECK(events.back().index == 99'999);
  CHECK(events.front().index == 99'990);
}

TEST_CASE("events that many threads record concurrently stay intact") {
  auto recorder = std::make_unique<flight_recorder>();
  std::atomic<bool> stop = false;
  std::vector<std::jthread> writers;
  for (uint32_t t = 0; t < 10; ++t) // more threads than groups: some share a group
    writers.emplace_back([&, t] {
      for (uint32_t i = 0; i < 20'000; ++i)
        recorder->note(flight_event::region_ran, t + 1, t, t * 1'000'000 + i);
      stop = true;
    });
  size_t event_count = 0;
  while (!stop || event_count == 0)
    for (uint64_t step = 1; step <= 10; ++step)
      for (const auto& recorded : recorder->last_events(step, 1000)) {
        ++event_count;
        REQUIRE(recorded.step == step);
        REQUIRE(recorded.program == step - 1);
        REQUIRE(recorded.index / 1'000'000 == step - 1);
      }
}

} // namespace troupe::test::flight_recorder_test
