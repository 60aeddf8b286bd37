// Which algorithm the autotuner chooses, from trials whose times the test defines.
#include "troupe/devices/gpu/core/autotuner.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/time_launches.hpp"

#include <barrier>

namespace troupe::test::autotuner_test {

using namespace troupe::gpu;
using namespace std::chrono_literals;

namespace {

algorithm numbered(int number, size_t workspace = 0) {
  return {.number = number, .workspace = workspace};
}

std::vector<int> ranking(const std::vector<algorithm>& algorithms) {
  std::vector<int> numbers;
  for (const auto& ranked : algorithms)
    numbers.push_back(ranked.number);
  return numbers;
}

std::vector<algorithm> advised(int count) {
  std::vector<algorithm> algorithms;
  for (int i = 0; i < count; ++i)
    algorithms.push_back(numbered(i));
  return algorithms;
}

// Each algorithm takes its given time in each run; a negative time is an error.
trial taking(std::vector<int64_t> nanoseconds, error_kind otherwise = error_kind::unimplemented,
             int* tried = nullptr) {
  return [=](const algorithm& tried_algorithm, int runs) -> result<std::vector<int64_t>> {
    if (tried && runs == 1) // the first run of each algorithm
      ++*tried;
    auto time = nanoseconds[static_cast<size_t>(tried_algorithm.number)];
    if (time < 0)
      return failure(otherwise, "as the test wants it");
    return std::vector<int64_t>(static_cast<size_t>(runs), time);
  };
}

using order = std::vector<int>;

} // namespace

TEST_CASE("the fastest algorithm comes first, the others by their time") {
  auto ranked = try_algorithms(advised(4), {}, taking({400, 200, 100, 300}));
  CHECK(ranking(ranked.order) == order{2, 1, 3, 0});
  CHECK(ranked.done);
}

TEST_CASE("advice decides between algorithms that are about as fast") {
  CHECK(ranking(try_algorithms(advised(3), {.margin = 0.1}, taking({109, 105, 100})).order) ==
        order{0, 2, 1});
  CHECK(ranking(try_algorithms(advised(3), {.margin = 0.1}, taking({111, 105, 100})).order) ==
        order{1, 2, 0});
  CHECK(ranking(try_algorithms(advised(2), {.margin = 0}, taking({101, 100})).order) ==
        order{1, 0});
}

TEST_CASE("one slow run of several does not count") {
  auto ranked = try_algorithms(advised(2), {}, [](const algorithm& tried_algorithm, int) {
    return result<std::vector<int64_t>>{tried_algorithm.number == 0
                                            ? std::vector<int64_t>{200, 200, 200}
                                            : std::vector<int64_t>{100, 9000, 110}};
  });
  CHECK(ranking(ranked.order) == order{1, 0});
}

TEST_CASE("algorithms that failed come last, after those without memory") {
  auto ranked = try_algorithms(advised(4), {}, [](const algorithm& tried_algorithm, int) {
    result<std::vector<int64_t>> answers[] = {
        failure(error_kind::internal, "it does not work"),
        failure(error_kind::resource_exhausted, "there is no memory"), std::vector<int64_t>{200},
        std::vector<int64_t>{100}};
    return answers[tried_algorithm.number];
  });
  CHECK(ranking(ranked.order) == order{3, 2, 1, 0});
  CHECK(ranked.done);
  ranked = try_algorithms(advised(2), {}, taking({-1, -1}));
  CHECK(ranking(ranked.order) == order{0, 1});
  CHECK_FALSE(ranked.done);
}

TEST_CASE("nothing is tried on a device that is lost or does not answer") {
  for (auto kind : {error_kind::unavailable, error_kind::deadline_exceeded}) {
    int tried = 0;
    auto ranked = try_algorithms(advised(4), {}, taking({100, -1, 50, 20}, kind, &tried));
    CHECK(tried == 2);
    CHECK(ranking(ranked.order) == order{0, 1, 2, 3});
    CHECK_FALSE(ranked.done);
  }
}

TEST_CASE("trials end when their time is used up") {
  int tried = 0;
  auto ranked = try_algorithms(advised(4), {.runs = 3, .max_nanoseconds = 2700},
                               taking({300, 250, 1, 1}, error_kind::internal, &tried));
  CHECK(tried == 2); // 1500 ns with the untimed runs, then 2750
  CHECK(ranking(ranked.order) == order{1, 0, 2, 3});
  CHECK(ranked.done);
}

TEST_CASE("an algorithm that is far slower than another is run only once") {
  std::vector<int> runs(3);
  auto ranked = try_algorithms(advised(3), {}, [&](const algorithm& tried_algorithm, int times) {
    const int64_t takes[] = {100, 201, 150};
    auto at = static_cast<size_t>(tried_algorithm.number);
    runs[at] += times;
    return result<std::vector<int64_t>>{
        std::vector<int64_t>(static_cast<size_t>(times), takes[at])};
  });
  CHECK(runs == order{3, 1, 3});
  CHECK(ranking(ranked.order) == order{0, 2, 1});
}

TEST_CASE("trials report the largest workspace that was used") {
  std::vector<algorithm> three{numbered(0, 10), numbered(1, 1000), numbered(2, 5000)};
  auto ranked = try_algorithms(three, {}, taking({300, 200, -1}, error_kind::resource_exhausted));
  CHECK(ranked.max_workspace == 1000);
}

TEST_CASE("each question is tried once, and has its own answer") {
  autotuner<int> tuner;
  int tried = 0;
  auto run = taking({300, 100, 200}, error_kind::internal, &tried);
  for (int i = 0; i < 3; ++i) {
    auto answer = tuner.find(7, advised(3), run);
    CHECK(ranking(answer.order) == order{1, 2, 0});
    CHECK(answer.final);
  }
  CHECK(tried == 3);
  tuner.find(8, advised(3), run);
  CHECK(tried == 6);
}

TEST_CASE("a single algorithm is not tried") {
  autotuner<int> tuner;
  int tried = 0;
  auto answer = tuner.find(7, advised(1), taking({1}, error_kind::internal, &tried));
  CHECK(ranking(answer.order) == order{0});
  CHECK(answer.final);
  CHECK(tuner.find(7, {}, taking({1}, error_kind::internal, &tried)).order.empty());
  CHECK(tried == 0);
}

TEST_CASE("a caller that may not try gets the known answer, or else the advice") {
  autotuner<int> tuner;
  auto first_answer = tuner.find(7, advised(2), nullptr);
  CHECK(ranking(first_answer.order) == order{0, 1});
  CHECK_FALSE(first_answer.final);
  tuner.find(7, advised(2), taking({200, 100}));
  auto second_answer = tuner.find(7, advised(2), nullptr);
  CHECK(ranking(second_answer.order) == order{1, 0});
  CHECK(second_answer.final);
}

TEST_CASE("trials that could not run are repeated a few times") {
  autotuner<int> tuner;
  int tried = 0;
  auto lost = taking({-1, -1}, error_kind::deadline_exceeded, &tried);
  CHECK_FALSE(tuner.find(7, advised(2), lost).final);
  CHECK_FALSE(tuner.find(7, advised(2), lost).final);
  SECTION("until they run") {
    auto answer = tuner.find(7, advised(2), taking({200, 100}));
    CHECK(ranking(answer.order) == order{1, 0});
    CHECK(answer.final);
  }
  SECTION("until the advice becomes final") {
    auto answer = tuner.find(7, advised(2), lost);
    CHECK(ranking(answer.order) == order{0, 1});
    CHECK(answer.final);
    CHECK(ranking(tuner.find(7, advised(2), lost).order) == order{0, 1});
    CHECK(tried == autotuner<int>::max_attempts);
  }
}

TEST_CASE("a device uses the part of another device's answer that it supports") {
  autotuner<int> tuner;
  tuner.find(7, advised(4), taking({400, 300, 200, 100}));
  auto answer = tuner.find(7, {numbered(9), numbered(0), numbered(2)}, nullptr);
  CHECK(ranking(answer.order) == order{2, 0, 9});
}

TEST_CASE("only the first of concurrent callers runs trials, and none waits") {
  test::watchdog watch;
  autotuner<int> tuner;
  std::atomic<int> tried = 0;
  std::barrier others_are_done{4}, has_begun{4};
  trial run = [&](const algorithm& tried_algorithm, int runs) {
    if (runs == 1 && tried++ == 0) {
      has_begun.arrive_and_wait();
      others_are_done.arrive_and_wait(); // would never arrive if they waited
    }
    return result<std::vector<int64_t>>{std::vector<int64_t>{200 - tried_algorithm.number}};
  };
  std::vector<std::jthread> threads;
  std::atomic<int> errors = 0;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      has_begun.arrive_and_wait();
      auto answer = tuner.find(7, advised(3), run, {.margin = 0});
      errors += answer.final || ranking(answer.order) != order{0, 1, 2};
      others_are_done.arrive_and_wait();
    });
  auto answer = tuner.find(7, advised(3), run, {.margin = 0});
  threads.clear();
  CHECK(ranking(answer.order) == order{2, 1, 0});
  CHECK(tried == 3);
  CHECK(errors == 0);
}

TEST_CASE("all threads get the same final answers") {
  test::watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  autotuner<int> tuner;
  std::array<std::atomic<int>, 16> tried{};
  auto ask = [&](int question) {
    return tuner.find(question, advised(3),
                      [&, question](const algorithm& tried_algorithm, int runs) {
                        tried[static_cast<size_t>(question)] += runs == 1;
                        std::this_thread::yield();
                        auto time = 100 + (tried_algorithm.number + question) % 3 * 100;
                        return result<std::vector<int64_t>>{
                            std::vector<int64_t>(static_cast<size_t>(runs), time)};
                      });
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 dice{seed + t};
        for (int i = 0; i < 500; ++i)
          ask(static_cast<int>(dice() % 16));
      });
  }
  for (int question = 0; question < 16; ++question) {
    auto answer = ask(question);
    CHECK(answer.final);
    CHECK(answer.order.front().number == (3 - question % 3) % 3);
    CHECK(tried[static_cast<size_t>(question)] == 3);
  }
}

TEST_CASE("the autotuner forgets questions beyond its maximum") {
  autotuner<int> tuner;
  auto max_problems = static_cast<int>(autotuner<int>::max_problems);
  int tried = 0;
  auto run = taking({200, 100}, error_kind::internal, &tried);
  for (int question = 0; question <= max_problems; ++question)
    tuner.find(question, advised(2), run);
  CHECK(tried == 2 * (max_problems + 1));
  CHECK(tuner.find(max_problems, advised(2), run).final);
  CHECK(tried == 2 * (max_problems + 1));
  CHECK(ranking(tuner.find(0, advised(2), run).order) == order{1, 0});
  CHECK(tried == 2 * (max_problems + 2));
}

TEST_CASE("launches are timed on the device, after an untimed one") {
  test::watchdog watch;
  test::simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::atomic<int> ran = 0;
  auto launch = [&] {
    return gpu.driver->launch(
        [&]() -> status {
          ++ran;
          std::this_thread::sleep_for(2ms);
          return {};
        },
        gpu.device->compute());
  };
  auto times = time_launches(*gpu.driver, gpu.device->compute(), 3, launch, 10s);
  REQUIRE(times);
  CHECK(ran == 4);
  CHECK(times->size() == 3);
  CHECK(std::ranges::min(*times) >= 2'000'000);
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("launches that fail or never run have no times") {
  test::watchdog watch;
  test::simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  int launched = 0;
  auto refused = time_launches(
      *gpu.driver, gpu.device->compute(), 3,
      [&]() -> status {
        return ++launched < 3 ? status{} : failure(error_kind::unimplemented, "not that often");
      },
      10s);
  CHECK(refused.status().kind() == error_kind::unimplemented);
  std::promise<void> go;
  auto blocked = go.get_future().share();
  REQUIRE(gpu.driver->launch(
      [blocked]() -> status {
        blocked.wait();
        return {};
      },
      gpu.device->compute()));
  auto late = time_launches(
      *gpu.driver, gpu.device->compute(), 3, [] { return status{}; }, 1ms);
  CHECK(late.status().kind() == error_kind::deadline_exceeded);
  go.set_value();
  CHECK(gpu.finish());
  CHECK(gpu.driver->misuses() == "");
}

} // namespace troupe::test::autotuner_test
