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
  void admitted() override { ++let_ins; }
};

struct sleeper final : step_gate::waiter {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false;
  void admitted() override {
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

TEST_CASE(
    "a gate admits steps up to its limit, and then the others in the order of their arrival") {
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

TEST_CASE("a step that withdraws is not admitted, and delays no other step") {
  step_gate gate{1};
  counter a, b, c;
  CHECK(gate.enter(a));
  CHECK(!gate.enter(b));
  CHECK(!gate.enter(c));
  CHECK(gate.withdraw(b));
  gate.leave();
  CHECK(b.let_ins == 0);
  CHECK(c.let_ins == 1);
  CHECK(!gate.withdraw(c)); // it has entered already
  gate.leave();
}

TEST_CASE("a gate without a limit never makes a step wait") {
  step_gate gate;
  counter counters[100];
  for (auto& waiting_counter : counters)
    CHECK(gate.enter(waiting_counter));
}

TEST_CASE("threads that enter, time out and leave never exceed the limit, and all are admitted") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  step_gate gate{3};
  std::atomic<int> inside = 0, most = 0, served = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 generator{seed + t};
        for (int passed = 0; passed < 200;) {
          sleeper self;
          bool is_inside = gate.enter(self) ||
                           self.wait_for(std::chrono::microseconds{generator() % 200}) ||
                           !gate.withdraw(self);
          if (!is_inside)
            continue;
          auto now = ++inside;
          for (auto previous_most = most.load();
               previous_most < now && !most.compare_exchange_weak(previous_most, now);)
            ;
          if (generator() % 4 == 0)
            std::this_thread::yield();
          --inside;
          gate.leave();
          ++served;
          ++passed;
        }
      });
  }
  CHECK(served == 1600);
  CHECK(most <= 3);
  CHECK(gate.waiting() == 0);
}

} // namespace troupe::test::step_gate_test
