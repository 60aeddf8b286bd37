// Makes the device of a GPU with options for its memory, which kernels do not see.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/devices/gpu/core/memory_options.hpp"

namespace troupe::gpu {

/// As make_device() in gpu_device.hpp. Fails with `resource_exhausted` if the driver cannot
/// allocate the reserve, or if the reserve exceeds the limit. `watchdog`: the device is lost when
/// no launch has ended for this time although a step waits for one; 0: never.
result<std::shared_ptr<gpu_device>> make_device(std::unique_ptr<driver> gpu_driver,
                                                std::shared_ptr<device> host, int ordinal,
                                                const memory_options& memory,
                                                std::chrono::milliseconds watchdog = {});

} // namespace troupe::gpu
