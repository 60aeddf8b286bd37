// The composition root: combines the ops and devices of this build.
#pragma once
#include "troupe/devices/cpu/swap_space.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace troupe {

/// Returns every op and kernel of this build. Created at the first call; immutable, and therefore
/// thread-safe.
const registry& library();

/// Options for the devices of a task.
struct device_choice {
  int intra_op_threads = 0;           ///< of the processor, for one op; 0: one per core
  size_t memory_limit = 0;            ///< bytes for tensors on the processor; 0: no limit
  swap_space_options swap_space = {}; ///< of the processor
  int gpus = 0;                       ///< number of GPUs; -1: all
  int devices_per_gpu = 1;       ///< devices that share one GPU, for tests with several devices
  size_t gpu_memory_limit = 0;   ///< bytes for each device; 0: an even share of nine tenths
  size_t gpu_memory_reserve = 0; ///< bytes for each device, allocated at the start; 0: on demand
  std::chrono::milliseconds gpu_memory_idle{0}; ///< idle time before memory is released; 0: never
  std::chrono::milliseconds gpu_watchdog{0};    ///< silence after which a GPU is lost; 0: never
  bool tf32 = false;                ///< GPUs may round the operands of products of f32 to 10 bits
  bool measure_convolutions = true; ///< GPUs choose algorithms by measuring them
};

/// Creates the devices of a task: one for the processor, and those for its GPUs. Fails, with the
/// reason, if there are fewer GPUs than requested, or one cannot be used as requested. Sessions of
/// a process share its GPUs, with the GPU options of the first session except `gpus`.
result<std::vector<std::shared_ptr<device>>> make_devices(const device_choice& chosen = {});

} // namespace troupe
