#include "troupe/runtime/insight/event_log.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace troupe::test::event_log_test {

using namespace std::chrono_literals;

TEST_CASE("a closed log reports its collected events, and no later ones") {
  std::vector<std::string> reported;
  event_log log{"worker:0", [&](const log_event& event_reported) {
                  reported.emplace_back(event_reported.event);
                }};
  log.write_step(log_level::info, {"step_failed", "steps_failed"}, 7, {});
  log.write_step(log_level::info, {"step_failed", "steps_failed"}, 8, {});
  CHECK(reported.empty());
  log.close();
  CHECK(reported == std::vector<std::string>{"steps_failed"});
  log.write(log_level::info, "late");
  log.write_step(log_level::info, {"step_failed", "steps_failed"}, 9, {});
  log.close();
  CHECK(reported.size() == 1);
}

TEST_CASE("closing a log waits for a hook that is being called") {
  watchdog watch;
  std::atomic<bool> is_called = false, has_returned = false;
  event_log log{"worker:0", [&](const log_event&) {
                  is_called = true;
                  std::this_thread::sleep_for(50ms);
                  has_returned = true;
                }};
  std::jthread other_thread{[&] { log.write(log_level::info, "slow"); }};
  while (!is_called)
    std::this_thread::yield();
  log.close();
  CHECK(has_returned);
}

} // namespace troupe::test::event_log_test
