// Spinning of a thread whose loop belongs to other code.
#include "tests/support/catch.hpp"
#include "troupe/actors/base/adaptive_spin.hpp"

namespace troupe::test::stepwise_spin_test {

using namespace std::chrono_literals;

namespace {

// Polls every 5 us, as a thread does that has its core.
struct poller {
  // Returns the number of polls before the thread may sleep.
  int spin() {
    int polls = 0;
    for (; spinner.continues(now); now += 5us)
      ++polls;
    return polls;
  }
  void sleep() { now += 10ms; }
  stepwise_spin spinner;
  stepwise_spin::clock::time_point now{1h};
};

} // namespace

TEST_CASE("a thread polls for 50 us after an event, and not without one") {
  poller thread;
  CHECK(thread.spin() == 0);
  thread.sleep();
  thread.spinner.begin(thread.now);
  CHECK(thread.spin() == 10);
  CHECK(thread.spin() == 0);
}

TEST_CASE("an event during the spin begins it anew") {
  poller thread;
  thread.spinner.begin(thread.now);
  for (int i = 0; i < 8; ++i, thread.now += 5us)
    CHECK(thread.spinner.continues(thread.now));
  thread.spinner.begin(thread.now);
  CHECK(thread.spin() == 10);
}

TEST_CASE("long work for an event does not count as a thread that has lost its core") {
  poller thread;
  for (int i = 0; i < 20; ++i) {
    thread.spinner.begin(thread.now);
    CHECK(thread.spinner.continues(thread.now));
    thread.now += 3ms;
  }
  thread.spinner.begin(thread.now);
  CHECK(thread.spin() == 10);
}

TEST_CASE("after several spins without success, most events are followed by sleep at once") {
  poller thread;
  int spins = 0;
  for (int i = 0; i < 8; ++i, thread.sleep()) {
    thread.spinner.begin(thread.now);
    spins += thread.spin() > 0;
  }
  CHECK(spins == 8);
  for (int i = 0; i < 32; ++i, thread.sleep()) {
    thread.spinner.begin(thread.now);
    spins += thread.spin() > 0;
  }
  CHECK(spins == 10); // one of 16
  // Two events within such a spin, the second of which is followed by none, leave one success.
  for (int i = 0; i < 16; ++i, thread.sleep()) {
    thread.spinner.begin(thread.now);
    for (int success = 0; success < 2 && thread.spinner.continues(thread.now); ++success)
      thread.spinner.begin(thread.now);
    thread.spin();
  }
  thread.spinner.begin(thread.now);
  CHECK(thread.spinner.continues(thread.now));
}

TEST_CASE("a thread that another one has kept from its core spins rarely") {
  poller thread;
  auto lose_core = [&] {
    thread.spinner.begin(thread.now);
    if (!thread.spinner.continues(thread.now))
      return false;
    thread.now += 200us;
    CHECK_FALSE(thread.spinner.continues(thread.now));
    return true;
  };
  CHECK(lose_core());
  int events = 1;
  while (!lose_core())
    ++events;
  CHECK(events == 32); // doubled once
  events = 1;
  while (!lose_core())
    ++events;
  CHECK(events == 64);
}

} // namespace troupe::test::stepwise_spin_test
