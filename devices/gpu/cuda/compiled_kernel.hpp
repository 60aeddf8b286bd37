// Kernels that are compiled at run time from generated source.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <memory>
#include <string>

namespace troupe::gpu {

/// A kernel, compiled for one kind of GPU. Thread-safe.
class compiled_kernel {
public:
  virtual ~compiled_kernel() = default;
  /// Launches on the thread's current device. `arguments` are the addresses of the parameters.
  virtual status launch(unsigned blocks, unsigned threads, void** arguments, stream in) const = 0;
};

/// Compiles a source that has an extern "C" kernel of that name, by NVRTC. Each source is compiled
/// once for all nodes and sessions, and kept until the process ends.
result<std::shared_ptr<const compiled_kernel>>
compile(const std::string& source, const std::string& kernel, const properties& gpu);

/// Compiles to machine code alone, which needs no GPU. Compute capability 9.0 has `major` 9.
result<std::string> compile_to_binary(const std::string& source, int major, int minor);

} // namespace troupe::gpu
