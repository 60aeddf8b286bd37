// NVIDIA GPUs as devices. Without CUDA, devices/gpu/no_cuda implements this header.
#pragma once
#include "troupe/runtime/device/device.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The usable GPUs of this machine.
struct cuda_devices {
  std::vector<std::shared_ptr<device>> devices;
  int gpu_count = 0;   ///< the number of GPUs, usable or not
  std::string reasons; ///< the reasons if there are fewer than requested, or none: sentences
};

struct cuda_options {
  int max_gpus = -1;         ///< the maximum of GPUs; -1: all
  int devices_per_gpu = 1;   ///< numbered one after the other: gpu:0 and gpu:1 on the first GPU
  size_t memory_limit = 0;   ///< bytes, of each device; 0: an even share of nine tenths
  size_t memory_reserve = 0; ///< bytes, of each device, that are allocated when it is made
  std::chrono::milliseconds memory_idle{0}; ///< after which cached memory is returned; 0: never
  std::chrono::milliseconds watchdog{0}; ///< a device that is silent for longer is lost; 0: never
  bool tf32 = false; ///< products of f32 round their operands to 10 bits, and are faster
  /// Chooses the algorithms of convolutions by measured speed, not by cuDNN's advice, and uses
  /// other layers of cuDNN that are faster than Troupe's kernels.
  bool measure_convolutions = true;
};

/// Never fails: without a GPU, or without CUDA, the list is empty. All callers in a process share
/// the devices while any caller holds them, with the options of the first caller. `host` runs the
/// nodes of a GPU's partitions that have no GPU kernel.
cuda_devices list_cuda_devices(const std::shared_ptr<device>& host,
                               const cuda_options& chosen = {});

} // namespace troupe
