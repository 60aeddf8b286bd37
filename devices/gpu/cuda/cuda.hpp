// NVIDIA GPUs as devices. Without CUDA, devices/gpu/no_cuda implements this header.
#pragma once
#include "troupe/runtime/device/device.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The GPUs of this machine that can be used.
struct cuda_devices {
  std::vector<std::shared_ptr<device>> found;
  int listed = 0;        ///< GPUs that there are, whether or not they can be used
  std::string why_fewer; ///< than were asked for, or none at all: sentences; else empty
};

struct cuda_choice {
  int most = -1;             ///< the first so many GPUs; -1: all
  int devices_per_gpu = 1;   ///< numbered one after the other: gpu:0 and gpu:1 on the first GPU
  size_t memory_limit = 0;   ///< bytes, of each device; 0: an even share of nine tenths
  size_t memory_reserve = 0; ///< bytes, of each device, that are taken when it is made
  std::chrono::milliseconds memory_idle{0}; ///< after which kept memory goes back; 0: never
  bool tf32 = false; ///< products of f32 round their operands to 10 bits, and are faster
  /// Algorithms of convolutions are chosen by speed, not by cuDNN's advice, and other layers of
  /// cuDNN's where they are faster than our kernels.
  bool measure_convolutions = true;
};

/// Never fails: a machine without a GPU, or a build without CUDA, has no such devices. All callers
/// in a process share them, as long as anybody holds one; `host` runs what belongs to a GPU's
/// partitions but not on it. Who comes later gets the options that the first has asked for.
cuda_devices list_cuda_devices(const std::shared_ptr<device>& host, const cuda_choice& chosen = {});

} // namespace troupe
