// The composition root: puts the ops and devices of this build together.
#pragma once
#include "troupe/devices/cpu/swap_space.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace troupe {

/// Every op and kernel of this build; made at the first call, never changed, usable by any thread.
const registry& library();

/// What a task runs on.
struct device_choice {
  int intra_op_threads = 0;           ///< of the processor that one op may use; 0: one per core
  size_t memory_limit = 0;            ///< bytes that tensors of the processor may take; 0: no limit
  swap_space_options swap_space = {}; ///< of the processor
  int gpus = 0;                       ///< the first so many GPUs; -1: all that there are
  int devices_per_gpu = 1;       ///< more than one share a GPU: several devices where there is one
  size_t gpu_memory_limit = 0;   ///< bytes, of each device; 0: an even share of nine tenths
  size_t gpu_memory_reserve = 0; ///< bytes of each that are taken at the start; 0: as needed
  std::chrono::milliseconds gpu_memory_idle{0}; ///< until an idle one gives back; 0: never
  bool tf32 = false;                ///< GPUs may round the operands of products of f32 to 10 bits
  bool measure_convolutions = true; ///< GPUs choose algorithms by trying them
};

/// Makes the devices of a task: one for the processor, and those for its GPUs. Fails where there
/// are fewer GPUs than asked for by number, or one cannot be used as asked, and says why. Sessions
/// of a process share its GPUs; who comes first chooses all that is about GPUs, but for `gpus`.
result<std::vector<std::shared_ptr<device>>> make_devices(const device_choice& chosen = {});

} // namespace troupe
