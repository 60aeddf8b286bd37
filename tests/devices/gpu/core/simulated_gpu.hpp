// A GPU's device on a driver that runs streams as threads and dawdles at random.
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
  explicit simulated_gpu(const gpu::simulation& like = {.seed = std::random_device{}()},
                         size_t memory_limit = 0)
      : simulated_gpu(like, gpu::memory_options{.limit = memory_limit}) {}
  simulated_gpu(const gpu::simulation& like, const gpu::memory_options& memory) : seed(like.seed) {
    auto owned = gpu::make_simulated_driver(like);
    driver = owned.get();
    auto made =
        gpu::make_device(std::move(owned), make_cpu_device({.intra_op_threads = 1}), 0, memory);
    REQUIRE(made);
    device = *std::move(made);
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

  std::future<result<tensor>> download(tensor what) {
    auto promise = std::make_shared<std::promise<result<tensor>>>();
    device->download(std::move(what),
                     [promise](result<tensor> got) { promise->set_value(std::move(got)); });
    return promise->get_future();
  }

  status finish() {
    std::promise<status> promise;
    device->when_done([&](status outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }

  unsigned seed;
  gpu::simulated_driver* driver;
  std::shared_ptr<gpu::gpu_device> device;
};

inline tensor filled(int64_t count, float value) {
  return tensor::vector(std::vector<float>(static_cast<size_t>(count), value));
}

inline bool all_are(const result<tensor>& what, float value) {
  return what && what->on_host() &&
         std::ranges::all_of(what->values<float>(), [=](float one) { return one == value; });
}

} // namespace troupe::test
