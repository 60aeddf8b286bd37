// Sessions on the GPUs of this machine, for tests that are marked [gpu].
#pragma once
#include "tests/support/catch.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"

namespace troupe::test {

/// Prints why a test is skipped if the machine has no GPU.
inline bool has_gpu() {
  auto gpu_devices = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}));
  if (gpu_devices.devices.empty())
    WARN("skipped: " << gpu_devices.reasons);
  return !gpu_devices.devices.empty();
}

/// One processor and that many devices on the first GPU.
inline std::vector<std::shared_ptr<device>> make_gpu_devices(int devices = 1) {
  return value_or_throw(
      make_devices({.intra_op_threads = 1, .gpus = 1, .devices_per_gpu = devices}));
}

} // namespace troupe::test
