// Makes a GPU's device with options for its memory. Kernels need not know of these.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/devices/gpu/core/memory_options.hpp"

namespace troupe::gpu {

/// As make_device() in gpu_device.hpp. Fails with `resource_exhausted` where the driver does not
/// have what is to be reserved, and where that is more than the limit.
result<std::shared_ptr<gpu_device>> make_device(std::unique_ptr<driver> of,
                                                std::shared_ptr<device> host, int ordinal,
                                                const memory_options& memory);

} // namespace troupe::gpu
