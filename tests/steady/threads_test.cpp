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

// Threads that ended may be listed for a moment yet.
bool comes_to(std::ptrdiff_t wanted) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (threads_now() != wanted && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return threads_now() == wanted;
}

// The number once it stays: threads that have begun or ended are listed late.
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

TEST_CASE("a session has the threads that its options say, once there is work for them") {
  constexpr std::ptrdiff_t most_spare = 4; // for quick regions while kernels keep all threads
  struct counts {
    std::ptrdiff_t at_start, after_small, after_large, after_many;
  };
  auto before = settled_threads();
  auto measure = [&](size_t inter, int intra) {
    counts found{};
    {
      graph_builder g;
      auto x = g.placeholder(dtype::f32, {-1}, "x");
      auto s = session::local({.threads = {.intra_op = intra, .inter_op = inter}});
      found.at_start = settled_threads() - before;
      auto step = s.prepare({x}, {tanh(x)});
      CHECK(step.run({tensor::of({10}, std::vector<float>(10))}).size() == 1);
      found.after_small = settled_threads() - before;
      auto large = tensor::of({1 << 20}, std::vector<float>(1 << 20));
      for (int i = 0; i < 3; ++i)
        CHECK(step.run({large}).size() == 1);
      found.after_large = settled_threads() - before;
      std::vector<std::future<std::vector<tensor>>> many;
      for (int i = 0; i < 20; ++i)
        many.push_back(step.run_async({large}));
      for (auto& each : many)
        CHECK(each.get().size() == 1);
      found.after_many = settled_threads() - before;
    }
    REQUIRE(comes_to(before));
    return found;
  };
  auto least = measure(1, 1);
  CHECK(least.at_start <= 6); // the actors', the clock's, and those that compile and call back
  for (size_t inter : {1, 2, 5})
    for (int intra : {1, 2, 4}) {
      CAPTURE(inter, intra);
      auto found = measure(inter, intra);
      CHECK(found.at_start == least.at_start);
      CHECK(found.after_small == least.after_small); // not worth a thread
      CHECK(found.after_large == least.after_large + intra - 1);
      CHECK(found.after_many <=
            found.after_large + static_cast<std::ptrdiff_t>(inter) + most_spare);
    }
}

} // namespace troupe::test::threads_test
