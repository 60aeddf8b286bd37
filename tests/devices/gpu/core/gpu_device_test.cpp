// The rules of a GPU's device, on a driver that runs streams as threads with random delays.
#include "troupe/devices/gpu/core/gpu_device.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/block_cache.hpp"

namespace troupe::test::gpu_device_test {

using namespace std::chrono_literals;

TEST_CASE("uploads, kernels and downloads give right values in any timing of streams") {
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
      // The old tensor is freed as soon as the launch is made: the next one reuses its memory.
      x = gpu.add(*x, 1);
      REQUIRE(x);
    }
    auto y = gpu.add(*x, 0.5f);
    REQUIRE(y);
    expected.emplace_back(gpu.download(*y), 0);
    expected.back().second = -1;
    if (count > 0) { // download another tensor, at another time
      auto downloaded = expected.back().first.get();
      REQUIRE(downloaded);
      expected.back() = {gpu.download(*x), downloaded->values<float>()[0] - 0.5f};
      CHECK(all_are(downloaded, downloaded->values<float>()[0]));
      CHECK(downloaded->values<float>()[0] >= static_cast<float>(round) + 0.5f);
    }
  }
  for (auto& [download, value] : expected) {
    auto downloaded = download.get();
    REQUIRE(downloaded);
    if (downloaded->elements() > 0)
      CHECK(all_are(downloaded, value));
  }
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("large tensors are uploaded in pieces, by several threads") {
  test::watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  auto created = gpu::make_device(gpu::make_simulated_driver({.seed = seed}),
                                  make_cpu_device({.intra_op_threads = 3}), 0, {});
  REQUIRE(created);
  auto& gpu = **created;
  for (int round = 0; round < 3; ++round) {
    auto bytes = static_cast<int64_t>(4'000'000 + dice() % 9'000'000);
    auto from = *tensor::make(dtype::u8, shape{bytes});
    for (auto& byte : from.values<uint8_t>())
      byte = static_cast<uint8_t>(dice());
    auto expected = *from.clone();
    auto on_device = gpu.upload(from);
    REQUIRE(on_device);
    std::ranges::fill(from.values<uint8_t>(), uint8_t{0}); // the upload has read it
    std::promise<result<tensor>> promise;
    gpu.download(*std::move(on_device),
                 [&](result<tensor> downloaded) { promise.set_value(std::move(downloaded)); });
    auto back = promise.get_future().get();
    REQUIRE(back);
    CHECK(identical(*back, expected));
  }
  CHECK(gpu.copies().uploaded > 12'000'000);
}

TEST_CASE("an upload never overwrites memory that a kernel has yet to read") {
  test::watchdog watch;
  simulated_gpu gpu{{.memory = 1 << 20, .seed = std::random_device{}()}};
  INFO("seed " << gpu.seed);
  std::vector<std::future<result<tensor>>> downloads;
  for (int round = 0; round < 100; ++round) {
    auto x = gpu.device->upload(filled(20'000, static_cast<float>(round)));
    REQUIRE(x);
    auto y = gpu.add(*x, 1, 300us);
    REQUIRE(y);
    x = tensor{}; // its block is free now, but the kernel has not begun
    downloads.push_back(gpu.download(*std::move(y)));
    if (downloads.size() > 3) {
      auto downloaded = downloads[downloads.size() - 4].get();
      CHECK(all_are(downloaded, static_cast<float>(round - 3) + 1));
    }
  }
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("many threads may use one GPU") {
  test::watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::vector<std::jthread> threads;
  std::atomic<int> errors = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        auto value = static_cast<float>(100 * t + round);
        auto x = gpu.device->upload(filled(1000, value));
        auto y = x ? gpu.add(*x, 1) : x;
        if (!y || !all_are(gpu.download(*y).get(), value + 1))
          ++errors;
      }
    });
  threads.clear();
  CHECK(errors == 0);
  CHECK(gpu.finish());
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("a tensor taken over by another GPU is read before its memory is reused") {
  test::watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::vector<std::unique_ptr<simulated_gpu>> gpus;
  for (unsigned i = 0; i < 3; ++i)
    gpus.push_back(std::make_unique<simulated_gpu>(
        gpu::simulation{.seed = seed + i, .longest_delay = std::chrono::microseconds{200}}));
  std::vector<std::jthread> threads;
  std::atomic<int> errors = 0;
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
          auto taken_over = gpus[next]->device->copy_from_device(*x);
          x = tensor{}; // freed now, and its memory is overwritten at once
          static_cast<void>(gpus[at]->device->upload(filled(2000, -1)));
          x = std::move(taken_over);
          at = next;
        }
        if (!x || !all_are(gpus[at]->download(*x).get(), value + 6))
          ++errors;
      }
    });
  threads.clear();
  CHECK(errors == 0);
  uint64_t bytes = 0;
  for (const auto& each_gpu : gpus) {
    CHECK(each_gpu->finish());
    CHECK(each_gpu->driver->misuses() == "");
    bytes += each_gpu->device->copies().copied_from_devices;
  }
  CHECK(bytes == 3 * 30 * 6 * 2000 * sizeof(float));
  for (const auto& each_gpu : gpus)
    CHECK(each_gpu->device->statistics().in_use == 0);
}

TEST_CASE("a GPU refuses to take over from lost devices, processors, and itself") {
  test::watchdog watch;
  simulated_gpu lost{{.launches_until_lost = 2}}, gpu;
  auto x = lost.device->upload(filled(10, 1)); // the first copy
  REQUIRE(x);
  static_cast<void>(lost.add(*x, 1));
  static_cast<void>(lost.add(*x, 1));
  auto taken_over = gpu.device->copy_from_device(*x);
  REQUIRE(!taken_over);
  CHECK(taken_over.status().kind() == error_kind::unavailable);
  CHECK(gpu.device->health()); // only the other GPU is lost
  auto of_host = gpu.device->copy_from_device(filled(10, 1));
  REQUIRE(!of_host);
  CHECK(of_host.status().kind() == error_kind::unimplemented);
  auto own_tensor = gpu.device->upload(filled(10, 1));
  REQUIRE(own_tensor);
  CHECK(!gpu.device->copy_from_device(*own_tensor));
}

TEST_CASE("steps of the same shapes allocate no new memory from the driver") {
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
  auto old_statistics = gpu.device->statistics();
  CHECK(old_statistics.in_use == 0);
  for (int i = 0; i < 20; ++i)
    step();
  auto new_statistics = gpu.device->statistics();
  CHECK(new_statistics.cached == old_statistics.cached);
  CHECK(new_statistics.peak == old_statistics.peak);
  CHECK(new_statistics.in_use == 0);
  gpu.device->release_cached_memory();
  CHECK(gpu.device->statistics().cached == 0);
}

TEST_CASE("exceeding the memory limit is an error, after cached blocks of other sizes are freed") {
  test::watchdog watch;
  simulated_gpu gpu{{.memory = 1 << 20, .seed = 1}, 600'000};
  CHECK(gpu.device->memory_limit() == 600'000);
  {
    auto x = gpu.device->upload(filled(100'000, 1));
    REQUIRE(x);
    auto over_limit = gpu.device->upload(filled(100'000, 1));
    REQUIRE_FALSE(over_limit);
    CHECK(over_limit.status().kind() == error_kind::resource_exhausted);
    CHECK(over_limit.status().message().find("400000 bytes for f32[100000]") != std::string::npos);
    auto added = gpu.add(*x, 1);
    CHECK_FALSE(added);
  }
  CHECK(gpu.device->statistics().in_use == 0);
  CHECK(gpu.device->statistics().cached > 0);
  auto second = gpu.device->upload(filled(60'000, 2));
  REQUIRE(second);
  auto third = gpu.add(*second, 1); // together with the first block these exceed the limit
  REQUIRE(third);
  CHECK(all_are(gpu.download(*third).get(), 3));
}

TEST_CASE("tensors may outlive their GPU") {
  test::watchdog watch;
  tensor on_device, on_host;
  {
    simulated_gpu gpu;
    auto x = gpu.device->upload(filled(100, 7));
    REQUIRE(x);
    on_device = *x;
    auto downloaded = gpu.download(*x).get();
    REQUIRE(downloaded);
    on_host = *downloaded;
  }
  CHECK(on_host.values<float>()[99] == 7);
  CHECK(on_device.space()->name() == "gpu:0");
  CHECK(to_string(on_device) == "f32[100] on gpu:0");
}

TEST_CASE("a GPU that is lost at any moment fails all requests, and nothing hangs") {
  test::watchdog watch;
  for (int64_t launches = 0; launches < 12; ++launches) {
    CAPTURE(launches);
    simulated_gpu gpu{{.seed = 3, .launches_until_lost = launches}};
    std::vector<std::future<result<tensor>>> downloads;
    for (int i = 0; i < 4; ++i) {
      auto x = gpu.device->upload(filled(1000, 1));
      auto y = x ? gpu.add(*x, 1) : x;
      if (y)
        downloads.push_back(gpu.download(*y));
      else
        CHECK(y.status().kind() == error_kind::unavailable);
    }
    for (auto& download : downloads)
      if (auto downloaded = download.get(); !downloaded)
        CHECK(downloaded.status().kind() == error_kind::unavailable);
    auto end = gpu.finish();
    if (launches < 12)
      CHECK(end.kind() == error_kind::unavailable);
    CHECK(gpu.device->health().message().find("gpu:0 is lost") != std::string::npos);
  }
}

TEST_CASE("a callback may release the GPU") {
  test::watchdog watch;
  auto gpu = std::make_unique<simulated_gpu>();
  std::promise<void> released;
  auto last_reference = std::make_shared<std::shared_ptr<gpu::gpu_device>>(gpu->device);
  gpu->device->notify_when_done([&released, last_reference](status) {
    std::this_thread::sleep_for(5ms);
    last_reference->reset();
    released.set_value();
  });
  gpu.reset();
  released.get_future().get();
}

TEST_CASE("captured launches of a stream can be launched many times") {
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
