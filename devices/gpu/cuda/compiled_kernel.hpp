// Kernels whose source is written when a graph is known.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <memory>
#include <string>

namespace troupe::gpu {

/// Compiled for one kind of GPU. Any thread may launch it.
class compiled_kernel {
public:
  virtual ~compiled_kernel() = default;
  /// `arguments` are the addresses of the kernel's parameters. On the thread's current device.
  virtual status launch(unsigned blocks, unsigned threads, void** arguments, stream in) const = 0;
};

/// Compiles a source that has an extern "C" kernel of that name, by NVRTC. The same source is
/// compiled once for all nodes and sessions that want it, and kept as long as the process.
result<std::shared_ptr<const compiled_kernel>>
compile(const std::string& source, const std::string& kernel, const properties& gpu);

/// The machine code alone, which needs no GPU: for compute capability 9.0, `major` is 9.
result<std::string> compile_to_binary(const std::string& source, int major, int minor);

} // namespace troupe::gpu
