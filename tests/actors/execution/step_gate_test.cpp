#include "troupe/actors/execution/step_gate.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <condition_variable>
#include <random>
#include <thread>
#include <vector>

namespace troupe::test::step_gate_test {

namespace {

struct counter final : step_gate::waiter {
  int let_ins = 0;
  void let_in() override { ++let_ins; }
};

struct sleeper final : step_gate::waiter {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false;
  void let_in() override {
    std::lock_guard guard{mutex};
    inside = true;
    changed.notify_one();
  }
  bool wait_for(std::chrono::microseconds time) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, time, [&] { return inside; });
  }
};

} // namespace

TEST_CASE("a gate lets in as many as it may, and the others in the order in which they came") {
  step_gate gate{2};
  counter a, b, c, d;
  CHECK(gate.enter(a));
  CHECK(gate.enter(b));
  CHECK(!gate.enter(c));
  CHECK(!gate.enter(d));
  CHECK(gate.waiting() == 2);
  gate.leave();
  CHECK(c.let_ins == 1);
  CHECK(d.let_ins == 0);
  gate.leave();
  CHECK(d.let_ins == 1);
  gate.leave();
  gate.leave();
  CHECK(gate.enter(a));
}

TEST_CASE("who withdraws is not let in, and holds up nobody") {
  step_gate gate{1};
  counter a, b, c;
  CHECK(gate.enter(a));
  CHECK(!gate.enter(b));
  CHECK(!gate.enter(c));
  CHECK(gate.withdraw(b));
  gate.leave();
  CHECK(b.let_ins == 0);
  CHECK(c.let_ins == 1);
  CHECK(!gate.withdraw(c)); // it is inside already
  gate.leave();
}

TEST_CASE("a gate without a limit never makes anybody wait") {
  step_gate gate;
  counter all[100];
  for (auto& one : all)
    CHECK(gate.enter(one));
}

TEST_CASE("threads that enter, lose patience and leave never exceed the limit, and all get in") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  step_gate gate{3};
  std::atomic<int> inside = 0, most = 0, served = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 dice{seed + t};
        for (int done = 0; done < 200;) {
          sleeper self;
          bool in = gate.enter(self) || self.wait_for(std::chrono::microseconds{dice() % 200}) ||
                    !gate.withdraw(self);
          if (!in)
            continue;
          auto now = ++inside;
          for (auto seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);)
            ;
          if (dice() % 4 == 0)
            std::this_thread::yield();
          --inside;
          gate.leave();
          ++served;
          ++done;
        }
      });
  }
  CHECK(served == 1600);
  CHECK(most <= 3);
  CHECK(gate.waiting() == 0);
}

} // namespace troupe::test::step_gate_test
