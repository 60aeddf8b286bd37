#include "troupe/api/internal/library.hpp"
// Registers the ops of this build, and creates the devices of a task.

#include "troupe/api/error.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"
#include "troupe/ops/all.hpp"
#include "troupe/serialization/tensor_bundle/checkpoint_work.hpp"

namespace troupe {

const registry& library() {
  static const registry ops_and_kernels = [] {
    registry registered;
    throw_if_failed(ops::add_all(registered));
    throw_if_failed(add_checkpoint_work(registered));
    return registered;
  }();
  return ops_and_kernels;
}

result<std::vector<std::shared_ptr<device>>> make_devices(const device_choice& chosen) {
  std::vector<std::shared_ptr<device>> devices;
  devices.push_back(make_cpu_device({.intra_op_threads = chosen.intra_op_threads,
                                     .memory_limit = chosen.memory_limit,
                                     .swap_space = chosen.swap_space}));
  if (chosen.gpus == 0)
    return devices;
  auto gpus =
      list_cuda_devices(devices.front(), {.max_gpus = chosen.gpus,
                                          .devices_per_gpu = chosen.devices_per_gpu,
                                          .memory_limit = chosen.gpu_memory_limit,
                                          .memory_reserve = chosen.gpu_memory_reserve,
                                          .memory_idle = chosen.gpu_memory_idle,
                                          .watchdog = chosen.gpu_watchdog,
                                          .tf32 = chosen.tf32,
                                          .measure_convolutions = chosen.measure_convolutions});
  if (!gpus.reasons.empty() && (chosen.gpus > 0 || gpus.gpu_count > 0))
    return failure(error_kind::failed_precondition, "gpus is ", chosen.gpus, ": ", gpus.reasons,
                   " Leave it at 0 to run on the processor.");
  for (auto& gpu_device : gpus.devices)
    devices.push_back(std::move(gpu_device));
  return devices;
}

} // namespace troupe
