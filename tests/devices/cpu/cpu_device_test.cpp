#include "troupe/devices/cpu/cpu_device.hpp"

#include "tests/support/catch.hpp"
#include "troupe/devices/cpu/thread_team.hpp"
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <set>
#include <stdexcept>

namespace troupe::test::cpu_device_test {

namespace {

constexpr double worth_it = 1e6; // ns per item: every loop is worth using the whole team

// The number of runs of each item.
std::vector<int> counts_of(device& on, int64_t items, double cost) {
  std::vector<std::atomic<int>> counts(static_cast<size_t>(items));
  on.parallel_for(items, cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      counts[static_cast<size_t>(i)].fetch_add(1);
  });
  return {counts.begin(), counts.end()};
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

} // namespace

TEST_CASE("a loop runs every item once, for any number of threads") {
  for (int threads : {1, 2, 3, 4, 8}) {
    auto cpu = make_cpu_device({.intra_op_threads = threads});
    for (int64_t items : {0, 1, 2, 7, 100, 1001})
      for (double cost : {0.0, 10.0, worth_it}) {
        auto counts = counts_of(*cpu, items, cost);
        CAPTURE(threads, items, cost);
        CHECK(std::ranges::count(counts, 1) == items);
      }
  }
}

TEST_CASE(
    "an exception of a loop's body on any thread reaches the caller, and the team stays usable") {
  for (int threads : {1, 2, 4}) {
    auto team = std::make_shared<thread_team>(threads);
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> inside = 0, ran = 0;
      auto body = [&](int64_t begin, int64_t end) {
        ++inside;
        ++ran;
        std::this_thread::sleep_for(std::chrono::microseconds{begin % 7});
        --inside;
        if (begin <= round % 40 && round % 40 < end)
          throw std::length_error{"too long"};
      };
      auto run = [&] {
        team->run(40, worth_it,
                  {[](void* context, int64_t begin, int64_t end) {
                     (*static_cast<decltype(body)*>(context))(begin, end);
                   },
                   &body});
      };
      CHECK_THROWS_AS(run(), std::length_error);
      CHECK(inside == 0);
      CHECK(ran > 0);
    }
    auto cpu = make_cpu_device({.intra_op_threads = threads});
    auto counts = counts_of(*cpu, 100, worth_it);
    CHECK(std::ranges::count(counts, 1) == 100);
  }
}

TEST_CASE("cheap loops and one-thread devices stay on the caller, and start no thread") {
  auto team = std::make_shared<thread_team>(4);
  auto stays_on_caller = [&](thread_team& team_used, double cost) {
    std::set<std::thread::id> thread_ids;
    auto body = [&](int64_t, int64_t) { thread_ids.insert(std::this_thread::get_id()); };
    team_used.run(100, cost,
                  {[](void* context, int64_t begin, int64_t end) {
                     (*static_cast<decltype(body)*>(context))(begin, end);
                   },
                   &body});
    return thread_ids == std::set{std::this_thread::get_id()};
  };
  CHECK(stays_on_caller(*team, 1));
  CHECK(team->started_workers() == 0);
  thread_team one_thread{1};
  CHECK(stays_on_caller(one_thread, worth_it));
  CHECK(one_thread.started_workers() == 0);
}

TEST_CASE("devices with the same number of threads share a team") {
  CHECK(thread_team::shared(5) == thread_team::shared(5));
  CHECK(thread_team::shared(5) != thread_team::shared(6));
}

TEST_CASE("nested loops from many callers at once run every item once") {
  for (int threads : {2, 3, 8}) {
    auto cpu = make_cpu_device({.intra_op_threads = threads});
    std::atomic<int64_t> ran{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 6; ++caller)
      callers.emplace_back([&] {
        for (int round = 0; round < 20; ++round)
          cpu->parallel_for(8, worth_it, [&](int64_t begin, int64_t end) {
            for (auto i = begin; i < end; ++i)
              cpu->parallel_for(16, worth_it, [&](int64_t from, int64_t to) {
                cpu->parallel_for(to - from, worth_it, [&](int64_t a, int64_t b) { ran += b - a; });
              });
          });
      });
    for (auto& caller : callers)
      caller.join();
    CHECK(ran == 6 * 20 * 8 * 16);
  }
}

TEST_CASE("loops of many callers do not use more threads than the team and the callers") {
  auto team = std::make_shared<thread_team>(3);
  std::atomic<int> running{0}, max_running{0};
  auto body = [&](int64_t, int64_t) {
    auto count_now = ++running;
    for (auto known_max = max_running.load();
         count_now > known_max && !max_running.compare_exchange_weak(known_max, count_now);)
      ;
    std::this_thread::yield();
    --running;
  };
  range_body plain{[](void* context, int64_t begin, int64_t end) {
                     (*static_cast<decltype(body)*>(context))(begin, end);
                   },
                   &body};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        team->run(64, worth_it, plain);
    });
  for (auto& caller : callers)
    caller.join();
  CHECK(max_running <= 4 + 2);
  CHECK(team->started_workers() <= 2);
}

TEST_CASE("as many callers as threads of the team get no helpers") {
  constexpr int threads = 3;
  auto team = std::make_shared<thread_team>(threads);
  std::set<std::thread::id> ids;
  std::mutex mutex;
  std::atomic<int> inside{0}, done{0}, ranges{0}, by_helpers{0};
  auto body = [&](int64_t, int64_t) {
    thread_local bool counted = false;
    auto is_caller = [&] {
      std::lock_guard guard{mutex};
      return ids.contains(std::this_thread::get_id());
    }();
    if (is_caller && !std::exchange(counted, true))
      ++inside;
    // Wait until all callers are in their loops. Helpers wait too: otherwise they would run all
    // ranges of a caller before it gets a core.
    if (inside < threads) {
      auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
      while (inside < threads && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    }
    if (inside == threads && done == 0) {
      ++ranges;
      by_helpers += !is_caller;
    }
  };
  range_body plain{[](void* context, int64_t begin, int64_t end) {
                     (*static_cast<decltype(body)*>(context))(begin, end);
                   },
                   &body};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < threads; ++caller)
    callers.emplace_back([&] {
      {
        std::lock_guard guard{mutex};
        ids.insert(std::this_thread::get_id());
      }
      stop_signal not_raised; // makes ranges short
      team->run(1000, worth_it, plain, &not_raised);
      ++done;
    });
  for (auto& caller : callers)
    caller.join();
  CHECK(inside == threads);
  CHECK(ranges > threads);
  CHECK(by_helpers < threads); // these had begun a range when the last caller came
}

TEST_CASE("a stopped loop skips the ranges that have not begun") {
  for (int threads : {1, 4}) {
    auto cpu = make_cpu_device({.intra_op_threads = threads});
    stop_signal stop;
    std::atomic<int64_t> ran{0};
    auto body = [&](int64_t begin, int64_t end) {
      ran += end - begin;
      stop.raise();
    };
    cpu->parallel_for(1000, worth_it, body, &stop);
    CHECK(ran >= 1);
    CHECK(ran <= threads); // each had begun when the first raised it
    ran = 0;
    cpu->parallel_for(1000, worth_it, body, &stop);
    CHECK(ran == 0);
  }
}

TEST_CASE("a loop that is not stopped runs all items, and checks its deadline every millisecond") {
  for (int threads : {1, 3}) {
    auto cpu = make_cpu_device({.intra_op_threads = threads});
    stop_signal stop{stop_signal::clock::now() + std::chrono::hours{1}};
    std::atomic<int64_t> ran{0}, longest{0};
    for (int64_t items : {1, 1000, 12'345'678}) {
      ran = 0;
      cpu->parallel_for(
          items, 1, // ns
          [&](int64_t begin, int64_t end) {
            ran += end - begin;
            for (auto known_max = longest.load();
                 end - begin > known_max && !longest.compare_exchange_weak(known_max, end - begin);)
              ;
          },
          &stop);
      CHECK(ran == items);
    }
    CHECK(longest <= 1'000'000);
  }
}

TEST_CASE("threads sleep while there is no work") {
  auto cpu = make_cpu_device({.intra_op_threads = 4});
  counts_of(*cpu, 64, worth_it);
  std::this_thread::sleep_for(std::chrono::milliseconds{20}); // late helpers find no work
  auto seconds_before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  CHECK(processor_seconds() - seconds_before < 0.01);
}

TEST_CASE("a tensor may outlive its device") {
  tensor survivor;
  {
    auto cpu = make_cpu_device({.intra_op_threads = 1});
    survivor = *tensor::make(dtype::f32, {1000}, cpu->memory());
  }
  std::ranges::fill(survivor.values<float>(), 1.0f);
  CHECK(survivor.values<float>()[999] == 1.0f);
}

TEST_CASE("a build without CUDA says so") {
  auto gpus = list_cuda_devices(make_cpu_device());
  CHECK(gpus.devices.empty() == !gpus.reasons.empty());
  if (gpus.devices.empty())
    CHECK(gpus.reasons.back() == '.');
}

TEST_CASE("ranges of cheap items begin at multiples of a vector's length, whatever the threads") {
  for (int threads : {2, 3, 8}) {
    auto device = make_cpu_device({.intra_op_threads = threads});
    std::mutex mutex;
    std::vector<std::pair<int64_t, int64_t>> ranges;
    device->parallel_for(1'000'003, 1.0, [&](int64_t begin, int64_t end) {
      std::lock_guard guard{mutex};
      ranges.emplace_back(begin, end);
    });
    std::ranges::sort(ranges);
    CHECK(ranges.front().first == 0);
    CHECK(ranges.back().second == 1'000'003);
    for (size_t i = 0; i < ranges.size(); ++i) {
      CHECK(ranges[i].first % vector_granule == 0);
      if (i > 0)
        CHECK(ranges[i].first == ranges[i - 1].second);
    }
  }
}

TEST_CASE("a deterministic view differs from its device in determinism only") {
  std::shared_ptr<device> device = make_cpu_device({.ordinal = 3, .intra_op_threads = 2});
  auto view = deterministic_view(device);
  CHECK_FALSE(device->deterministic());
  CHECK(view->deterministic());
  CHECK(view->kind() == device->kind());
  CHECK(view->ordinal() == 3);
  CHECK(view->memory_limit() == device->memory_limit());
  CHECK(&view->memory() == &device->memory());
  CHECK(view->swap() == device->swap());
  CHECK(view->threads() == device->threads());
  CHECK(view->description() == device->description() + ", deterministic");
  auto allocated = view->statistics().allocations;
  auto held = *tensor::make(dtype::f32, shape{1000}, view->memory());
  CHECK(device->statistics().allocations == allocated + 1);
  CHECK(view->statistics().in_use == device->statistics().in_use);
  held = {};
  view->release_cached_memory();
  CHECK(device->statistics().cached == 0);
}

} // namespace troupe::test::cpu_device_test
