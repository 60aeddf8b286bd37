// The device that is always there: the machine's processor cores.
#pragma once
#include "troupe/devices/cpu/swap_space.hpp"
#include "troupe/runtime/device/device.hpp"

#include <memory>

namespace troupe {

struct cpu_options {
  int ordinal = 0;
  /// Threads that one loop may use, its caller counted. 0: as many as this process may use cores.
  int intra_op_threads = 0;
  /// Bytes that tensors may hold at once. 0: no limit but the machine's.
  size_t memory_limit = 0;
  swap_space_options swap_space = {};
};

/// Devices with as many threads share them. No thread starts before the first loop that is worth
/// one; with one thread none ever does. Tensors may outlive the device.
std::unique_ptr<device> make_cpu_device(cpu_options options = {});

} // namespace troupe
