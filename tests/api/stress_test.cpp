// Many threads and many steps in random order.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include <unistd.h>

namespace troupe::test::stress_test {

using namespace std::chrono_literals;

namespace {

// Two branches over one input, and their sum. By the given times, each product is worth a thread.
struct branches {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, {16, 16}, "x");
  edge sums;
  std::vector<node_time> times;

  branches() {
    auto left_branch = x, right_branch = x;
    for (int i = 0; i < 4; ++i) {
      left_branch = matmul(left_branch, x, {}, concat("left", i));
      right_branch = matmul(x, right_branch, {}, concat("right", i)) + 1;
      for (auto side : {"left", "right"})
        times.push_back({.node = concat(side, i), .runs = 1, .mean_ns = 1e6});
    }
    sums = sum(left_branch) + sum(right_branch);
  }
};

tensor filled(float value) {
  return tensor::from_values<float>({16, 16}, std::vector<float>(256, value));
}

} // namespace

TEST_CASE("eight threads run steps of parallel branches, some of them late, and none is wrong") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  branches b;
  auto serial_session = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
  std::vector<float> expected;
  for (int i = 0; i < 4; ++i)
    expected.push_back(to_scalar<float>(
        serial_session.fetch(b.sums, {{b.x, filled(0.1f * static_cast<float>(i))}})));

  auto s = session::local(
      {.threads = {.intra_op = 1, .inter_op = 8}, .insight = {.node_times = b.times}});
  auto step = s.prepare({b.x}, {b.sums});
  step_statistics statistics;
  step.run({filled(0)}, {.statistics = &statistics});
  CHECK(std::ranges::count_if(statistics.tasks.at(0).spans, [&](const step_span& span) {
          return statistics.tasks[0].subject_of(span).kind == span_kind::region;
        }) >= 4); // before the fork, two branches, and the sum
  std::atomic<int> right_runs = 0, late_runs = 0, wrong_runs = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 generator{seed + t};
        for (int i = 0; i < 300; ++i) {
          auto choice = generator() % 4;
          run_options options;
          if (generator() % 3 == 0)
            options.deadline =
                std::chrono::steady_clock::now() + std::chrono::microseconds{generator() % 300};
          try {
            auto sums = step.run({filled(0.1f * static_cast<float>(choice))}, options);
            ++(to_scalar<float>(sums[0]) == expected[choice] ? right_runs : wrong_runs);
          } catch (const error& e) {
            ++(e.kind() == error_kind::deadline_exceeded && options.deadline ? late_runs
                                                                             : wrong_runs);
          }
        }
      });
  }
  CHECK(wrong_runs == 0);
  CHECK(right_runs + late_runs == 8 * 300);
  CHECK(right_runs >= 8 * 100);
}

TEST_CASE("ten million steps leave no memory behind", "[slow]") {
  watchdog watch{100s};
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {});
  auto s = session::local({.threads = {.intra_op = 1}});
  auto step = s.prepare({x}, {neg(x)});
  std::vector<tensor> feeds{tensor::scalar(1.0f)}, fetched(1);
  auto run = [&](int count) {
    for (int i = 0; i < count; ++i)
      step.run_into(feeds, fetched);
  };
  run(10'000);
  auto before = footprint_of(::getpid());
  run(10'000'000 / timeout_scale);
  auto after = footprint_of(::getpid());
  CHECK(to_scalar<float>(fetched[0]) == -1.0f);
  CHECK(after.threads == before.threads);
  CHECK(after.descriptors == before.descriptors);
  if (size_is_telling)
    CHECK(after.resident_kib - before.resident_kib < 1024);
}

} // namespace troupe::test::stress_test
