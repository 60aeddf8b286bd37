// The device over CUDA's driver, where there is a GPU.
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <future>
#include <random>

namespace troupe::test::cuda_device_test {

namespace {

// Calls the body for each GPU, or says why there is none.
template <class Body>
void for_each_gpu(Body body) {
  auto all = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}));
  if (all.found.empty())
    WARN("skipped: " << all.why_fewer);
  for (const auto& one : all.found) {
    INFO(one->description());
    REQUIRE(one->as_accelerator());
    body(*one->as_accelerator());
  }
}

std::future<result<tensor>> download(accelerator& from, tensor what) {
  auto promise = std::make_shared<std::promise<result<tensor>>>();
  from.download(std::move(what),
                [promise](result<tensor> got) { promise->set_value(std::move(got)); });
  return promise->get_future();
}

status finish(accelerator& what) {
  std::promise<status> promise;
  what.when_done([&](status outcome) { promise.set_value(std::move(outcome)); });
  return promise.get_future().get();
}

} // namespace

TEST_CASE("what goes to a GPU comes back as it was", "[gpu]") {
  test::watchdog watch;
  for_each_gpu([](accelerator& gpu) {
    auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    std::vector<std::pair<tensor, std::future<result<tensor>>>> sent;
    for (int round = 0; round < 200; ++round) {
      std::vector<int32_t> values(std::uniform_int_distribution<size_t>{0, 100'000}(dice));
      for (auto& one : values)
        one = static_cast<int32_t>(dice());
      auto here = tensor::vector(values);
      auto there = gpu.upload(here);
      REQUIRE(there);
      auto copy = there->clone(gpu.memory()); // in the line of launches
      REQUIRE(copy);
      *there = {};
      sent.emplace_back(here, download(gpu, *std::move(copy)));
    }
    for (auto& [here, back] : sent) {
      auto got = back.get();
      REQUIRE(got);
      CHECK(identical(here, *got));
    }
    CHECK(finish(gpu));
    CHECK(gpu.statistics().in_use == 0);
  });
}

TEST_CASE("a GPU takes no more memory for more of the same", "[gpu]") {
  test::watchdog watch;
  for_each_gpu([](accelerator& gpu) {
    auto step = [&] {
      auto there = gpu.upload(tensor::vector(std::vector<float>(1'000'000, 1.0f)));
      REQUIRE(there);
      auto back = download(gpu, *std::move(there)).get();
      REQUIRE(back);
      CHECK(back->values<float>()[999'999] == 1.0f);
      CHECK(finish(gpu));
    };
    step();
    step();
    auto cached = gpu.statistics().cached;
    for (int i = 0; i < 100; ++i)
      step();
    CHECK(gpu.statistics().cached == cached);
  });
}

TEST_CASE("more memory than a GPU has is an error, and it goes on", "[gpu][all_memory]") {
  test::watchdog watch;
  for_each_gpu([](accelerator& gpu) {
    auto much = static_cast<int64_t>(gpu.memory_limit() / 2);
    auto first = tensor::make(dtype::u8, {much}, gpu.memory());
    REQUIRE(first);
    auto second = tensor::make(dtype::u8, {much + (int64_t{1} << 30)}, gpu.memory());
    REQUIRE_FALSE(second);
    CHECK(second.status().kind() == error_kind::resource_exhausted);
    CHECK(gpu.upload(tensor::scalar(1.0f)));
    CHECK(finish(gpu));
  });
}

} // namespace troupe::test::cuda_device_test
