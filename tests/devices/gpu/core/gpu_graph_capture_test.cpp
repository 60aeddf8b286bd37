// Recorded launches that are replayed, and their memory.
#include "troupe/devices/gpu/core/graph_capture.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>

namespace troupe::test::gpu_graph_capture_test {

using namespace std::chrono_literals;

namespace {

// y = x + 10, in ten launches over memory of the recording.
struct ten_steps {
  std::unique_ptr<recording> launches;
  void* input = nullptr;
  int64_t count = 0;
  recording::output y;

  status record(simulated_gpu& gpu, int64_t elements) {
    count = elements;
    TROUPE_ASSIGN(launches, gpu.device->record());
    {
      TROUPE_ASSIGN(auto x, tensor::make(dtype::f32, {count}, gpu.device->memory()));
      auto start = x;
      for (int i = 0; i < 10; ++i) {
        TROUPE_ASSIGN(x, gpu.add(x, 1));
      }
      input = start.raw();
      y = {.memory = x.raw(), .type = dtype::f32, .dims = {count}};
    }
    return launches->end();
  }

  // Fails if a former result is still referenced.
  result<tensor> run(simulated_gpu& gpu, const tensor& x) {
    if (!launches->prepare_launch({&y, 1}))
      return failure(error_kind::aborted, "not now");
    auto output = std::exchange(y.value, {});
    TROUPE_TRY(gpu.device->memory().space()->copy(input, x.raw(), x.bytes()));
    TROUPE_TRY(launches->launch());
    return output;
  }
};

} // namespace

TEST_CASE("a recording repeats its launches, and refuses while its output is referenced") {
  watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  ten_steps steps;
  REQUIRE(steps.record(gpu, 1000));
  auto launches_before = gpu.driver->launches();
  for (int i = 0; i < 50; ++i) {
    auto x = gpu.device->upload(filled(1000, static_cast<float>(i)));
    REQUIRE(x);
    auto y = steps.run(gpu, *x);
    REQUIRE(y);
    CHECK(steps.run(gpu, *x).status().kind() == error_kind::aborted);
    CHECK(all_are(gpu.download(*std::move(y)).get(), static_cast<float>(i) + 10));
  }
  // An upload, a copy into the recording's memory, the recording, a download.
  CHECK(gpu.driver->launches() - launches_before == 200);
  CHECK(gpu.device->replays().recordings == 1);
  CHECK(gpu.device->replays().replays == 50);
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("a recording owns its memory, and uses few blocks for many launches") {
  watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::mt19937 dice{gpu.seed};
  ten_steps steps;
  REQUIRE(steps.record(gpu, 1000));
  CHECK(gpu.device->statistics().in_use == 3 * gpu::block_cache::class_of(4000));
  for (int i = 0; i < 100; ++i) {
    auto value = static_cast<float>(i);
    auto x = gpu.device->upload(filled(1000, value));
    REQUIRE(x);
    auto y = steps.run(gpu, *x);
    REQUIRE(y);
    for (int k = 0; k < 4; ++k) { // unrelated launches into any free memory
      auto unrelated = gpu.device->upload(filled(900 + static_cast<int64_t>(dice() % 100), -1));
      REQUIRE(unrelated);
      auto unrelated_sum = gpu.add(*unrelated, 1);
      REQUIRE(unrelated_sum);
      CHECK_FALSE(steps.launches->owns(unrelated->raw()));
      CHECK_FALSE(steps.launches->owns(unrelated_sum->raw()));
    }
    CHECK(all_are(gpu.download(*std::move(y)).get(), value + 10));
  }
  CHECK(gpu.device->statistics().in_use == 3 * gpu::block_cache::class_of(4000));
  steps.launches = nullptr;
  CHECK(gpu.device->statistics().in_use == 0);
}

TEST_CASE("outputs and launches of a recording outlive it") {
  watchdog watch;
  for (int i = 0; i < 20; ++i) {
    simulated_gpu gpu;
    INFO("seed " << gpu.seed);
    ten_steps steps;
    REQUIRE(steps.record(gpu, 1000));
    auto x = gpu.device->upload(filled(1000, 1));
    REQUIRE(x);
    auto y = steps.run(gpu, *x);
    REQUIRE(y);
    steps.launches = nullptr;
    auto sum = gpu.add(*x, 5); // in memory of the former recording
    REQUIRE(sum);
    CHECK(all_are(gpu.download(*y).get(), 11));
    CHECK(all_are(gpu.download(*sum).get(), 6));
    y = tensor{};
    sum = tensor{};
    x = tensor{};
    REQUIRE(gpu.finish());
    CHECK(gpu.device->statistics().in_use == 0);
  }
}

TEST_CASE("launches of other threads are not affected by a thread that records") {
  watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::atomic<bool> stop = false;
  std::atomic<int> errors = 0;
  std::jthread other_thread{[&] {
    for (int i = 0; !stop; ++i) {
      auto x = gpu.device->upload(filled(1000, static_cast<float>(i)));
      auto y = x ? gpu.add(*x, 1) : x;
      if (!y || !all_are(gpu.download(*y).get(), static_cast<float>(i) + 1))
        ++errors;
    }
  }};
  for (int i = 0; i < 30; ++i) {
    ten_steps steps;
    REQUIRE(steps.record(gpu, 1000));
    auto x = gpu.device->upload(filled(1000, 1));
    REQUIRE(x);
    for (int k = 0; k < 3; ++k) {
      auto y = steps.run(gpu, *x);
      REQUIRE(y);
      CHECK(all_are(gpu.download(*std::move(y)).get(), 11));
    }
  }
  stop = true;
  other_thread.join();
  CHECK(errors == 0);
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("an upload within a recording is kept for its launches") {
  watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  auto launches = gpu.device->record();
  REQUIRE(launches);
  recording::output y;
  {
    auto x = gpu.device->upload(filled(500, 3));
    REQUIRE(x);
    auto sum = gpu.add(*x, 1);
    REQUIRE(sum);
    y = {.memory = sum->raw(), .type = dtype::f32, .dims = {500}};
  }
  REQUIRE((*launches)->end());
  for (int i = 0; i < 10; ++i) {
    auto unrelated = gpu.device->upload(filled(500, -1)); // would get the same block
    REQUIRE(unrelated);
    REQUIRE((*launches)->prepare_launch({&y, 1}));
    auto output = std::exchange(y.value, {});
    REQUIRE((*launches)->launch());
    CHECK(all_are(gpu.download(*&output).get(), 4));
  }
}

TEST_CASE("a recording's input does not reuse memory of earlier tensors") {
  watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  auto launches = gpu.device->record();
  REQUIRE(launches);
  recording::output y;
  void *first = nullptr, *second = nullptr;
  {
    auto x = (*launches)->make_input(dtype::f32, {500});
    REQUIRE(x);
    first = x->raw();
    REQUIRE(gpu.add(*x, 1)); // its result is freed
    auto late = (*launches)->make_input(dtype::f32, {500});
    REQUIRE(late);
    second = late->raw();
    auto sum = gpu.add(*late, 1);
    REQUIRE(sum);
    y = {.memory = sum->raw(), .type = dtype::f32, .dims = {500}};
  }
  REQUIRE((*launches)->end());
  auto a = gpu.device->upload(filled(500, 3)), b = gpu.device->upload(filled(500, 7));
  REQUIRE(a);
  REQUIRE(b);
  REQUIRE((*launches)->prepare_launch({&y, 1}));
  REQUIRE(gpu.device->memory().space()->copy(first, a->raw(), a->bytes()));
  REQUIRE(gpu.device->memory().space()->copy(second, b->raw(), b->bytes()));
  REQUIRE((*launches)->launch());
  CHECK(all_are(gpu.download(std::exchange(y.value, {})).get(), 8));
}

TEST_CASE("tensors held at the end, and calls that cannot be captured, make a recording unusable") {
  watchdog watch;
  simulated_gpu gpu;
  tensor referenced;
  {
    auto launches = gpu.device->record();
    REQUIRE(launches);
    CHECK(gpu.device->record().status().kind() == error_kind::internal);
    auto x = tensor::make(dtype::f32, {10}, gpu.device->memory());
    REQUIRE(x);
    referenced = *x;
    x = tensor{};
    CHECK((*launches)->end().kind() == error_kind::failed_precondition);
    CHECK_FALSE((*launches)->usable());
    CHECK_FALSE((*launches)->prepare_launch({}));
  }
  CHECK(gpu.device->statistics().in_use > 0);
  referenced = tensor{};
  CHECK(gpu.device->statistics().in_use == 0);
  {
    auto launches = gpu.device->record();
    REQUIRE(launches);
    // A kernel that waits for its own launches.
    auto event = gpu.driver->make_event();
    REQUIRE(event);
    REQUIRE(gpu.driver->record(*event, gpu.device->compute()));
    CHECK_FALSE(gpu.driver->wait(*event, 1s));
    gpu.driver->destroy(*event);
  } // dropped before its end
  auto x = gpu.device->upload(filled(10, 1));
  REQUIRE(x);
  CHECK(all_are(gpu.download(*gpu.add(*x, 1)).get(), 2));
  CHECK(gpu.device->replays().recordings == 0);

  simulated_gpu without{{.seed = 1, .captures_fail = true}};
  ten_steps steps;
  CHECK(steps.record(without, 100).kind() == error_kind::internal);
  steps.launches = nullptr;
  CHECK(without.device->statistics().in_use == 0);
}

TEST_CASE("a recording is dropped if others need its memory") {
  watchdog watch;
  simulated_gpu gpu{{.memory = 1 << 20, .seed = 1}, 600'000};
  ten_steps steps;
  REQUIRE(steps.record(gpu, 30'000)); // three blocks of 120,000 bytes
  auto x = gpu.device->upload(filled(30'000, 1));
  REQUIRE(x);
  auto y = steps.run(gpu, *x);
  REQUIRE(y);
  CHECK_FALSE(gpu.device->upload(filled(100'000, 1)));
  CHECK_FALSE(steps.launches->usable());
  CHECK_FALSE(steps.launches->prepare_launch({}));
  CHECK(all_are(gpu.download(*y).get(), 11));
  y = tensor{};
  CHECK(gpu.device->upload(filled(100'000, 1)));
  {
    ten_steps another;
    CHECK(another.record(gpu, 60'000).kind() == error_kind::resource_exhausted);
  }
  x = tensor{};
  CHECK(gpu.device->statistics().in_use == 0);
}

TEST_CASE("a GPU that is lost during a recording fails it without hanging") {
  watchdog watch;
  for (int64_t launches = 0; launches < 20; ++launches) {
    CAPTURE(launches);
    simulated_gpu gpu{{.seed = 3, .launches_until_lost = launches}};
    ten_steps steps;
    auto outcome = steps.record(gpu, 100);
    for (int i = 0; i < 5 && outcome; ++i) {
      auto x = gpu.device->upload(filled(100, 1));
      outcome = x.status();
      if (x)
        outcome = steps.run(gpu, *x).status();
    }
    if (outcome)
      outcome = gpu.finish();
    CHECK(outcome.kind() == error_kind::unavailable);
  }
}

TEST_CASE("only the recording thread is recording, and only on its device") {
  watchdog watch;
  simulated_gpu gpu, other;
  INFO("seeds " << gpu.seed << ", " << other.seed);
  CHECK_FALSE(gpu::is_recording(*gpu.device));
  auto launches = gpu.device->record();
  REQUIRE(launches);
  CHECK(gpu::is_recording(*gpu.device));
  CHECK_FALSE(gpu::is_recording(*other.device));
  CHECK_FALSE(std::async(std::launch::async, [&] { return gpu::is_recording(*gpu.device); }).get());
  CHECK((*launches)->end());
  CHECK_FALSE(gpu::is_recording(*gpu.device));
}

} // namespace troupe::test::gpu_graph_capture_test
