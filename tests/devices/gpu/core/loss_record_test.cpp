#include "troupe/devices/gpu/core/loss_record.hpp"

#include "tests/support/catch.hpp"
#include "troupe/devices/gpu/core/completion_queue.hpp"

#include <algorithm>
#include <thread>

namespace troupe::test::loss_record_test {

using gpu::completion_queue;
using gpu::loss_record;
using cause = loss_record::cause;
using namespace std::chrono_literals;

namespace {

status loss(std::string why) { return failure(error_kind::unavailable, why); }

} // namespace

TEST_CASE("the first loss counts, and each listener gets it once") {
  loss_record record;
  CHECK(record.reason());
  std::vector<std::string> texts;
  auto note = [&](const status& reason) { texts.push_back(reason.message()); };
  CHECK_FALSE(record.add(note));
  record.report();
  CHECK(texts.empty());
  CHECK(record.record(loss("first"), cause::driver));
  CHECK(record.has_report());
  CHECK(texts.empty()); // record() calls nothing
  CHECK_FALSE(record.record(loss("second"), cause::silence));
  CHECK(record.reason().message() == "first");
  CHECK_FALSE(record.may_run());
  record.report();
  record.report();
  CHECK(texts == std::vector<std::string>{"first"});
  CHECK(record.add(note)); // lost already
  CHECK(texts.size() == 1);
  record.report();
  CHECK(texts == std::vector<std::string>{"first", "first"});
  CHECK_FALSE(record.has_report());
}

TEST_CASE("a listener may use the record, and add listeners") {
  loss_record record;
  int calls = 0;
  record.add([&](const status& reason) {
    CHECK(record.reason().message() == reason.message());
    record.add([&](const status&) { ++calls; });
    record.report();
  });
  record.record(loss("gone"), cause::silence);
  CHECK(record.may_run());
  record.report();
  CHECK(calls == 1);
}

TEST_CASE(
    "the thread of a device reports a loss before it takes completions, and ends after them") {
  loss_record record;
  completion_queue queue{record};
  using work = completion_queue::work;
  gpu::completion next;
  CHECK(queue.wait(next, 1ms) == work::idle);
  queue.push({.done = [](const status&) {}, .launches = {{.until = 7}}});
  record.record(loss("gone"), cause::driver);
  CHECK(queue.wait(next, 0ms) == work::report);
  record.report();
  CHECK_FALSE(queue.has_stopped_for(0s));
  queue.stop();
  CHECK(queue.wait(next, 0ms) == work::completion);
  REQUIRE(next.launches);
  CHECK(next.launches->until == 7);
  CHECK(queue.wait(next, 0ms) == work::none);
  CHECK_FALSE(queue.has_stopped_for(1h));
  std::this_thread::sleep_for(1ms);
  CHECK(queue.has_stopped_for(0s));
  record.add([](const status&) {}); // a listener that comes late is called nevertheless
  CHECK(queue.wait(next, 0ms) == work::report);
}

TEST_CASE("a thread that sleeps wakes up for a completion, a loss and the end") {
  loss_record record;
  completion_queue queue{record};
  using work = completion_queue::work;
  std::vector<work> kinds;
  std::jthread sleeper{[&] {
    for (gpu::completion next; kinds.empty() || kinds.back() != work::none;) {
      kinds.push_back(queue.wait(next, 0ms));
      record.report();
    }
  }};
  std::this_thread::sleep_for(1ms);
  queue.push({});
  std::this_thread::sleep_for(1ms);
  record.record(loss("gone"), cause::driver);
  queue.wake();
  std::this_thread::sleep_for(1ms);
  queue.stop();
  sleeper.join();
  REQUIRE(kinds.size() >= 2);
  CHECK(std::ranges::count(kinds, work::completion) == 1);
  CHECK_FALSE(record.has_report());
}

} // namespace troupe::test::loss_record_test
