// A GPU's device on a driver that runs streams as threads with random delays.
#pragma once
#include "tests/simulated_gpu/simulated_driver.hpp"
#include "tests/support/catch.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"

#include <algorithm>
#include <future>
#include <random>
#include <thread>

namespace troupe::test {

struct simulated_gpu {
  explicit simulated_gpu(const gpu::simulation& options = {.seed = std::random_device{}()},
                         size_t memory_limit = 0)
      : simulated_gpu(options, gpu::memory_options{.limit = memory_limit}) {}
  simulated_gpu(const gpu::simulation& options, const gpu::memory_options& memory,
                std::chrono::milliseconds watchdog = {})
      : seed(options.seed) {
    auto owned = gpu::make_simulated_driver(options);
    driver = owned.get();
    auto created = gpu::make_device(std::move(owned), make_cpu_device({.intra_op_threads = 1}), 0,
                                    memory, watchdog);
    REQUIRE(created);
    device = *std::move(created);
  }

  // Launches y = x + delta.
  result<tensor> add(const tensor& x, float delta, std::chrono::microseconds takes = {}) {
    TROUPE_ASSIGN(auto y, tensor::make(dtype::f32, x.dims(), device->memory()));
    auto* from = static_cast<const float*>(x.raw());
    auto* to = static_cast<float*>(y.raw());
    auto launched = driver->launch(
        [=, count = x.elements()]() -> status {
          if (takes.count() > 0)
            std::this_thread::sleep_for(takes);
          for (int64_t i = 0; i < count; ++i)
            to[i] = from[i] + delta;
          return {};
        },
        device->compute());
    TROUPE_TRY(std::move(launched));
    return y;
  }

  // Launches a kernel that runs until the gate is opened.
  status block(std::shared_future<void> gate) {
    return driver->launch(
        [gate = std::move(gate)]() -> status {
          gate.wait();
          return {};
        },
        device->compute());
  }

  std::future<result<tensor>> download(tensor on_device) {
    auto promise = std::make_shared<std::promise<result<tensor>>>();
    device->download(std::move(on_device), [promise](result<tensor> downloaded) {
      promise->set_value(std::move(downloaded));
    });
    return promise->get_future();
  }

  std::future<status> notify() {
    auto promise = std::make_shared<std::promise<status>>();
    device->notify_when_done([promise](status outcome) { promise->set_value(std::move(outcome)); });
    return promise->get_future();
  }

  status finish() { return notify().get(); }

  unsigned seed;
  gpu::simulated_driver* driver;
  std::shared_ptr<gpu::gpu_device> device;
};

inline tensor filled(int64_t count, float value) {
  return tensor::vector(std::vector<float>(static_cast<size_t>(count), value));
}

inline bool all_are(const result<tensor>& downloaded, float value) {
  return downloaded && downloaded->on_host() &&
         std::ranges::all_of(downloaded->values<float>(),
                             [=](float element) { return element == value; });
}

} // namespace troupe::test
