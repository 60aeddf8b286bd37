// The CPU device: the cores of the machine. It always exists.
#pragma once
#include "troupe/devices/cpu/swap_space.hpp"
#include "troupe/runtime/device/device.hpp"

#include <memory>

namespace troupe {

struct cpu_options {
  int ordinal = 0;
  /// Threads of one loop, including its caller. 0: as many as the process may use cores.
  int intra_op_threads = 0;
  /// Bytes that tensors may hold together. 0: the memory of the machine.
  size_t memory_limit = 0;
  swap_space_options swap_space = {};
};

/// Devices with the same number of threads share the threads. They start at the first loop that is
/// long enough for several threads. Tensors may outlive the device.
std::unique_ptr<device> make_cpu_device(cpu_options options = {});

} // namespace troupe
