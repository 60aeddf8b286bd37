#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <chrono>
#include <filesystem>
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

} // namespace

TEST_CASE("a session has exactly the threads that its options say") {
  auto before = threads_now();
  std::ptrdiff_t always = 0; // the actor system's own: its clock
  {
    auto s = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
    always = threads_now() - before - 1;
  }
  CHECK(always <= 3);
  REQUIRE(comes_to(before));
  for (size_t inter : {1, 2, 5})
    for (int intra : {1, 2, 4}) {
      CAPTURE(inter, intra);
      {
        graph_builder g;
        auto x = g.placeholder(dtype::f32, {-1}, "x");
        auto s = session::local({.threads = {.intra_op = intra, .inter_op = inter}});
        auto after_start = before + always + static_cast<std::ptrdiff_t>(inter);
        CHECK(threads_now() == after_start);
        auto step = s.prepare({x}, {tanh(x)});
        CHECK(step.run({tensor::of({10}, std::vector<float>(10))}).size() == 1);
        CHECK(threads_now() == after_start); // not worth a thread
        for (int i = 0; i < 3; ++i)
          CHECK(step.run({tensor::of({1 << 20}, std::vector<float>(1 << 20))}).size() == 1);
        CHECK(threads_now() == after_start + intra - 1);
      }
      REQUIRE(comes_to(before));
    }
}

} // namespace troupe::test::threads_test
