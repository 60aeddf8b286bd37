#include "troupe/runtime/insight/event_log.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace troupe::test::event_log_test {

using namespace std::chrono_literals;

TEST_CASE("a log that is closed tells what it has gathered, and then nothing") {
  std::vector<std::string> told;
  event_log log{"worker:0", [&](const log_event& what) { told.emplace_back(what.event); }};
  log.write_step(log_level::info, {"step_failed", "steps_failed"}, 7, {});
  log.write_step(log_level::info, {"step_failed", "steps_failed"}, 8, {});
  CHECK(told.empty());
  log.close();
  CHECK(told == std::vector<std::string>{"steps_failed"});
  log.write(log_level::info, "late");
  log.write_step(log_level::info, {"step_failed", "steps_failed"}, 9, {});
  log.close();
  CHECK(told.size() == 1);
}

TEST_CASE("closing a log waits for a hook that is being called") {
  watchdog watch;
  std::atomic<bool> is_called = false, has_returned = false;
  event_log log{"worker:0", [&](const log_event&) {
                  is_called = true;
                  std::this_thread::sleep_for(50ms);
                  has_returned = true;
                }};
  std::jthread other{[&] { log.write(log_level::info, "slow"); }};
  while (!is_called)
    std::this_thread::yield();
  log.close();
  CHECK(has_returned);
}

} // namespace troupe::test::event_log_test
