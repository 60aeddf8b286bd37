#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

namespace troupe::test::threads_test {

namespace {

auto threads_now() {
  std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return std::distance(begin(tasks), end(tasks));
}

// Ended threads may still be listed for a moment.
bool reaches_count(std::ptrdiff_t count) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (threads_now() != count && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return threads_now() == count;
}

// The number of threads once it is stable: threads that have begun or ended are listed late.
auto settled_threads() {
  auto count = threads_now();
  for (int equal = 0; equal < 5;) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    auto now = threads_now();
    equal = now == count ? equal + 1 : 0;
    count = now;
  }
  return count;
}

} // namespace

TEST_CASE("a session starts the threads of its options once there is work for them") {
  constexpr std::ptrdiff_t max_spare = 4; // for quick regions while kernels keep all threads
  struct counts {
    std::ptrdiff_t at_start, after_small, after_large, after_many;
  };
  std::thread{[] {}}.join(); // a sanitizer's own thread starts with the first one of the process
  auto threads_before = settled_threads();
  auto measure = [&](size_t inter, int intra) {
    counts counted{};
    {
      graph_builder g;
      auto x = g.placeholder(dtype::f32, {-1}, "x");
      auto s = session::local({.threads = {.intra_op = intra, .inter_op = inter}});
      counted.at_start = settled_threads() - threads_before;
      auto step = s.prepare({x}, {tanh(x)});
      CHECK(step.run({tensor::from_values({10}, std::vector<float>(10))}).size() == 1);
      counted.after_small = settled_threads() - threads_before;
      auto large = tensor::from_values({1 << 20}, std::vector<float>(1 << 20));
      for (int i = 0; i < 3; ++i)
        CHECK(step.run({large}).size() == 1);
      counted.after_large = settled_threads() - threads_before;
      std::vector<std::future<std::vector<tensor>>> runs;
      for (int i = 0; i < 20; ++i)
        runs.push_back(step.run_async({large}));
      for (auto& outcome : runs)
        CHECK(outcome.get().size() == 1);
      counted.after_many = settled_threads() - threads_before;
    }
    REQUIRE(reaches_count(threads_before));
    return counted;
  };
  auto fewest = measure(1, 1);
  CHECK(fewest.at_start <= 6); // those of the actors, the clock, the compiler and callbacks
  for (size_t inter : {1, 2, 5})
    for (int intra : {1, 2, 4}) {
      CAPTURE(inter, intra);
      auto counted = measure(inter, intra);
      CHECK(counted.at_start == fewest.at_start);
      CHECK(counted.after_small == fewest.after_small); // too small for a thread
      CHECK(counted.after_large == fewest.after_large + intra - 1);
      CHECK(counted.after_many <=
            counted.after_large + static_cast<std::ptrdiff_t>(inter) + max_spare);
    }
}

} // namespace troupe::test::threads_test
