// A GPU as a device, over any driver.
#pragma once
#include "troupe/devices/gpu/driver.hpp"
#include "troupe/runtime/accelerator.hpp"

#include <memory>

namespace troupe::gpu {

struct device_options {
  int ordinal = 0;
  /// The most bytes that tensors and the cache may take together; 0: nine tenths of what there is.
  /// Memory is taken when it is needed, never all at the start.
  size_t memory_limit = 0;
};

/// What kernels use of their GPU beside memory.
class gpu_device : public accelerator {
public:
  virtual gpu::driver& driver() noexcept = 0;
  /// Where kernels launch: at this moment, and on this thread.
  virtual stream compute() noexcept = 0;
};

/// The GPU that a kernel runs on.
inline gpu_device& gpu_of(device& on) { return static_cast<gpu_device&>(*on.as_accelerator()); }

/// `host` runs what belongs to the GPU's partitions, but not on it.
result<std::shared_ptr<gpu_device>> make_device(std::unique_ptr<driver> of,
                                                std::shared_ptr<device> host,
                                                const device_options& options = {});

} // namespace troupe::gpu
