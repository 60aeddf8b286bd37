// The rules of a GPU's device, on a driver that runs streams as threads and dawdles at random.
#include "troupe/devices/gpu/core/gpu_device.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/block_cache.hpp"

namespace troupe::test::gpu_device_test {

using namespace std::chrono_literals;

TEST_CASE("what is uploaded, computed and downloaded is right, whatever the streams do meanwhile") {
  test::watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::mt19937 dice{gpu.seed};
  std::vector<std::pair<std::future<result<tensor>>, float>> expected;
  for (int round = 0; round < 200; ++round) {
    auto count = std::uniform_int_distribution<int64_t>{0, 3000}(dice);
    auto x = gpu.device->upload(filled(count, static_cast<float>(round)));
    REQUIRE(x);
    CHECK_FALSE(x->on_host());
    for (auto steps = dice() % 5; steps > 0; --steps) {
      // The old tensor goes as soon as the launch is made: its memory serves the next.
      x = gpu.add(*x, 1);
      REQUIRE(x);
    }
    auto y = gpu.add(*x, 0.5f);
    REQUIRE(y);
    expected.emplace_back(gpu.download(*y), 0);
    expected.back().second = -1;
    if (count > 0) { // a second view of the same, at another time
      auto seen = expected.back().first.get();
      REQUIRE(seen);
      expected.back() = {gpu.download(*x), seen->values<float>()[0] - 0.5f};
      CHECK(all_are(seen, seen->values<float>()[0]));
      CHECK(seen->values<float>()[0] >= static_cast<float>(round) + 0.5f);
    }
  }
  for (auto& [got, value] : expected) {
    auto seen = got.get();
    REQUIRE(seen);
    if (seen->elements() > 0)
      CHECK(all_are(seen, value));
  }
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("large tensors are uploaded in pieces, by several threads") {
  test::watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  auto made = gpu::make_device(gpu::make_simulated_driver({.seed = seed}),
                               make_cpu_device({.intra_op_threads = 3}), 0, {});
  REQUIRE(made);
  auto& gpu = **made;
  for (int round = 0; round < 3; ++round) {
    auto bytes = static_cast<int64_t>(4'000'000 + dice() % 9'000'000);
    auto from = *tensor::make(dtype::u8, shape{bytes});
    for (auto& one : from.values<uint8_t>())
      one = static_cast<uint8_t>(dice());
    auto expected = *from.clone();
    auto there = gpu.upload(from);
    REQUIRE(there);
    std::ranges::fill(from.values<uint8_t>(), uint8_t{0}); // it has been read
    std::promise<result<tensor>> promise;
    gpu.download(*std::move(there), [&](result<tensor> got) { promise.set_value(std::move(got)); });
    auto back = promise.get_future().get();
    REQUIRE(back);
    CHECK(identical(*back, expected));
  }
  CHECK(gpu.copies().uploaded > 12'000'000);
}

TEST_CASE("an upload never runs over what a kernel has yet to read") {
  test::watchdog watch;
  simulated_gpu gpu{{.memory = 1 << 20, .seed = std::random_device{}()}};
  INFO("seed " << gpu.seed);
  std::vector<std::future<result<tensor>>> got;
  for (int round = 0; round < 100; ++round) {
    auto x = gpu.device->upload(filled(20'000, static_cast<float>(round)));
    REQUIRE(x);
    auto y = gpu.add(*x, 1, 300us);
    REQUIRE(y);
    x = tensor{}; // its block is free now, but the kernel has not begun
    got.push_back(gpu.download(*std::move(y)));
    if (got.size() > 3) {
      auto seen = got[got.size() - 4].get();
      CHECK(all_are(seen, static_cast<float>(round - 3) + 1));
    }
  }
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("many threads may use one GPU") {
  test::watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        auto value = static_cast<float>(100 * t + round);
        auto x = gpu.device->upload(filled(1000, value));
        auto y = x ? gpu.add(*x, 1) : x;
        if (!y || !all_are(gpu.download(*y).get(), value + 1))
          ++wrong;
      }
    });
  threads.clear();
  CHECK(wrong == 0);
  CHECK(gpu.finish());
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("what one GPU hands to another is read there before its memory serves anything else") {
  test::watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::vector<std::unique_ptr<simulated_gpu>> gpus;
  for (unsigned i = 0; i < 3; ++i)
    gpus.push_back(std::make_unique<simulated_gpu>(
        gpu::simulation{.seed = seed + i, .longest_delay = std::chrono::microseconds{200}}));
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 dice{seed + 7 * t};
      for (int round = 0; round < 30; ++round) {
        auto value = static_cast<float>(1000 * t + static_cast<unsigned>(round));
        auto at = dice() % 3;
        auto x = gpus[at]->device->upload(filled(2000, value));
        for (int hop = 0; hop < 6 && x; ++hop) {
          x = gpus[at]->add(*x, 1, std::chrono::microseconds{dice() % 100});
          if (!x)
            break;
          auto next = (at + 1 + dice() % 2) % 3;
          auto there = gpus[next]->device->take_over(*x);
          x = tensor{}; // now, and what takes its memory is written over at once
          static_cast<void>(gpus[at]->device->upload(filled(2000, -1)));
          x = std::move(there);
          at = next;
        }
        if (!x || !all_are(gpus[at]->download(*x).get(), value + 6))
          ++wrong;
      }
    });
  threads.clear();
  CHECK(wrong == 0);
  uint64_t bytes = 0;
  for (const auto& one : gpus) {
    CHECK(one->finish());
    CHECK(one->driver->misdeeds() == "");
    bytes += one->device->copies().taken_over;
  }
  CHECK(bytes == 3 * 30 * 6 * 2000 * sizeof(float));
  for (const auto& one : gpus)
    CHECK(one->device->statistics().in_use == 0);
}

TEST_CASE("a GPU takes over from no device that is lost, from no processor, and not from itself") {
  test::watchdog watch;
  simulated_gpu lost{{.launches_until_lost = 2}}, gpu;
  auto x = lost.device->upload(filled(10, 1)); // the first copy
  REQUIRE(x);
  static_cast<void>(lost.add(*x, 1));
  static_cast<void>(lost.add(*x, 1));
  auto taken = gpu.device->take_over(*x);
  REQUIRE(!taken);
  CHECK(taken.status().kind() == error_kind::unavailable);
  CHECK(gpu.device->health()); // the other one is
  auto of_host = gpu.device->take_over(filled(10, 1));
  REQUIRE(!of_host);
  CHECK(of_host.status().kind() == error_kind::unimplemented);
  auto mine = gpu.device->upload(filled(10, 1));
  REQUIRE(mine);
  CHECK(!gpu.device->take_over(*mine));
}

TEST_CASE("steps of the same shapes take no new memory from the driver") {
  test::watchdog watch;
  simulated_gpu gpu;
  auto step = [&] {
    auto x = gpu.device->upload(filled(5000, 1));
    REQUIRE(x);
    for (int i = 0; i < 4; ++i)
      x = gpu.add(*x, 1);
    CHECK(all_are(gpu.download(*x).get(), 5));
    x = tensor{};
    CHECK(gpu.finish());
  };
  step();
  step();
  auto before = gpu.device->statistics();
  CHECK(before.in_use == 0);
  for (int i = 0; i < 20; ++i)
    step();
  auto after = gpu.device->statistics();
  CHECK(after.cached == before.cached);
  CHECK(after.peak == before.peak);
  CHECK(after.in_use == 0);
  gpu.device->release_cached_memory();
  CHECK(gpu.device->statistics().cached == 0);
}

TEST_CASE("more memory than the limit is an error, and cached blocks of other sizes give way") {
  test::watchdog watch;
  simulated_gpu gpu{{.memory = 1 << 20, .seed = 1}, 600'000};
  CHECK(gpu.device->memory_limit() == 600'000);
  {
    auto x = gpu.device->upload(filled(100'000, 1));
    REQUIRE(x);
    auto more = gpu.device->upload(filled(100'000, 1));
    REQUIRE_FALSE(more);
    CHECK(more.status().kind() == error_kind::resource_exhausted);
    CHECK(more.status().message().find("400000 bytes for f32[100000]") != std::string::npos);
    auto here = gpu.add(*x, 1);
    CHECK_FALSE(here);
  }
  CHECK(gpu.device->statistics().in_use == 0);
  CHECK(gpu.device->statistics().cached > 0);
  auto other = gpu.device->upload(filled(60'000, 2));
  REQUIRE(other);
  auto third = gpu.add(*other, 1); // together with the first block they would be too many
  REQUIRE(third);
  CHECK(all_are(gpu.download(*third).get(), 3));
}

TEST_CASE("tensors may outlive their GPU") {
  test::watchdog watch;
  tensor far, near;
  {
    simulated_gpu gpu;
    auto x = gpu.device->upload(filled(100, 7));
    REQUIRE(x);
    far = *x;
    auto seen = gpu.download(*x).get();
    REQUIRE(seen);
    near = *seen;
  }
  CHECK(near.values<float>()[99] == 7);
  CHECK(far.space()->name() == "gpu:0");
  CHECK(to_string(far) == "f32[100] on gpu:0");
}

TEST_CASE("a lost GPU fails what is asked of it, at any moment, and hangs nobody") {
  test::watchdog watch;
  for (int64_t launches = 0; launches < 12; ++launches) {
    CAPTURE(launches);
    simulated_gpu gpu{{.seed = 3, .launches_until_lost = launches}};
    std::vector<std::future<result<tensor>>> got;
    for (int i = 0; i < 4; ++i) {
      auto x = gpu.device->upload(filled(1000, 1));
      auto y = x ? gpu.add(*x, 1) : x;
      if (y)
        got.push_back(gpu.download(*y));
      else
        CHECK(y.status().kind() == error_kind::unavailable);
    }
    for (auto& one : got)
      if (auto seen = one.get(); !seen)
        CHECK(seen.status().kind() == error_kind::unavailable);
    auto end = gpu.finish();
    if (launches < 12)
      CHECK(end.kind() == error_kind::unavailable);
    CHECK(gpu.device->health().message().find("gpu:0 is lost") != std::string::npos);
  }
}

TEST_CASE("a callback may let go of the GPU") {
  test::watchdog watch;
  auto gpu = std::make_unique<simulated_gpu>();
  std::promise<void> gone;
  auto held = std::make_shared<std::shared_ptr<gpu::gpu_device>>(gpu->device);
  gpu->device->when_done([&gone, held](status) {
    std::this_thread::sleep_for(5ms);
    held->reset();
    gone.set_value();
  });
  gpu.reset();
  gone.get_future().get();
}

TEST_CASE("what a stream notes down can be launched many times") {
  test::watchdog watch;
  simulated_gpu gpu;
  auto x = gpu.device->upload(filled(100, 0));
  REQUIRE(x);
  auto* cells = static_cast<float*>(x->raw());
  auto aside = gpu.driver->make_stream();
  REQUIRE(aside);
  REQUIRE(gpu.driver->begin_capture(*aside));
  REQUIRE(gpu.driver->launch(
      [=]() -> status {
        for (int i = 0; i < 100; ++i)
          cells[i] += 1;
        return {};
      },
      *aside));
  auto noted = gpu.driver->end_capture(*aside);
  REQUIRE(noted);
  CHECK(all_are(gpu.download(*x).get(), 0));
  for (int i = 0; i < 5; ++i)
    REQUIRE(gpu.driver->launch(*noted, gpu.device->compute()));
  CHECK(all_are(gpu.download(*x).get(), 5));
  gpu.driver->destroy(*noted);
  gpu.driver->destroy(*aside);
}

TEST_CASE("block sizes waste an eighth at most") {
  for (size_t bytes = 1; bytes < (size_t{1} << 34); bytes += bytes / 7 + 1) {
    auto size = gpu::block_cache::class_of(bytes);
    CHECK(size >= bytes);
    CHECK((size <= 2048 || size - bytes <= bytes / 8 + 256));
    CHECK(gpu::block_cache::class_of(size) == size);
  }
}

} // namespace troupe::test::gpu_device_test
