#include "tests/support/simulated_gpus.hpp"

#include "tests/simulated_gpu/portable_kernels.hpp"
#include "tests/simulated_gpu/simulated_kernels.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"
#include "troupe/ops/all.hpp"
#include "troupe/serialization/tensor_bundle/checkpoint_work.hpp"

#include <stdexcept>

namespace troupe::test {
namespace {

void require_ok(const status& outcome) {
  if (!outcome)
    throw std::runtime_error{outcome.message()};
}

} // namespace

const registry& simulated_library() {
  static std::deque<kernel_def> kernels;
  static const registry test_ops = [] {
    registry test_registry;
    require_ok(ops::add_all(test_registry, device_kind::cpu));
    require_ok(add_checkpoint_work(test_registry));
    for (const auto* kernel : portable_kernels())
      require_ok(test_registry.add(*kernel));
    kernels = gpu::simulated_kernels(test_registry);
    for (const auto& gpu_kernel : kernels)
      require_ok(test_registry.add(gpu_kernel));
    return test_registry;
  }();
  return test_ops;
}

std::vector<std::shared_ptr<device>> make_simulated_devices(int gpus,
                                                            const gpu::simulation& simulation,
                                                            const gpu::memory_options& memory) {
  std::vector<std::shared_ptr<device>> devices{make_cpu_device({.intra_op_threads = 1})};
  for (int i = 0; i < gpus; ++i) {
    auto options = simulation;
    options.seed += static_cast<unsigned>(i) * 100;
    auto simulated_device =
        gpu::make_device(gpu::make_simulated_driver(options), devices.front(), i, memory);
    require_ok(simulated_device.status());
    devices.push_back(*std::move(simulated_device));
  }
  return devices;
}

} // namespace troupe::test
