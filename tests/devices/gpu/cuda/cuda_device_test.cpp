// The device over CUDA's driver, if there is a GPU.
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <future>
#include <random>

namespace troupe::test::cuda_device_test {

namespace {

// Calls the body for each GPU, or warns why there is none.
template <class Body>
void for_each_gpu(Body body) {
  auto listing = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}));
  if (listing.devices.empty())
    WARN("skipped: " << listing.reasons);
  for (const auto& each_device : listing.devices) {
    INFO(each_device->description());
    REQUIRE(each_device->as_accelerator());
    body(*each_device->as_accelerator());
  }
}

std::future<result<tensor>> download(accelerator& source, tensor on_device) {
  auto promise = std::make_shared<std::promise<result<tensor>>>();
  source.download(std::move(on_device), [promise](result<tensor> downloaded) {
    promise->set_value(std::move(downloaded));
  });
  return promise->get_future();
}

status finish(accelerator& target) {
  std::promise<status> promise;
  target.notify_when_done([&](status outcome) { promise.set_value(std::move(outcome)); });
  return promise.get_future().get();
}

} // namespace

TEST_CASE("a tensor uploaded to a GPU is downloaded unchanged", "[gpu]") {
  test::watchdog watch;
  for_each_gpu([](accelerator& gpu) {
    auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    std::vector<std::pair<tensor, std::future<result<tensor>>>> sent;
    for (int round = 0; round < 200; ++round) {
      std::vector<int32_t> values(std::uniform_int_distribution<size_t>{0, 100'000}(dice));
      for (auto& value : values)
        value = static_cast<int32_t>(dice());
      auto original = tensor::vector(values);
      auto uploaded = gpu.upload(original);
      REQUIRE(uploaded);
      auto copy = uploaded->clone(gpu.memory()); // in the order of launches
      REQUIRE(copy);
      *uploaded = {};
      sent.emplace_back(original, download(gpu, *std::move(copy)));
    }
    for (auto& [original, back] : sent) {
      auto downloaded = back.get();
      REQUIRE(downloaded);
      CHECK(identical(original, *downloaded));
    }
    CHECK(finish(gpu));
    CHECK(gpu.statistics().in_use == 0);
  });
}

TEST_CASE("a GPU allocates no more memory for repeated steps", "[gpu]") {
  test::watchdog watch;
  for_each_gpu([](accelerator& gpu) {
    auto step = [&] {
      auto uploaded = gpu.upload(tensor::vector(std::vector<float>(1'000'000, 1.0f)));
      REQUIRE(uploaded);
      auto back = download(gpu, *std::move(uploaded)).get();
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

TEST_CASE("more memory than a GPU has is an error, and the GPU stays usable", "[gpu][all_memory]") {
  test::watchdog watch;
  for_each_gpu([](accelerator& gpu) {
    auto half_memory = static_cast<int64_t>(gpu.memory_limit() / 2);
    auto first = tensor::make(dtype::u8, {half_memory}, gpu.memory());
    REQUIRE(first);
    auto second = tensor::make(dtype::u8, {half_memory + (int64_t{1} << 30)}, gpu.memory());
    REQUIRE_FALSE(second);
    CHECK(second.status().kind() == error_kind::resource_exhausted);
    CHECK(gpu.upload(tensor::scalar(1.0f)));
    CHECK(finish(gpu));
  });
}

} // namespace troupe::test::cuda_device_test
