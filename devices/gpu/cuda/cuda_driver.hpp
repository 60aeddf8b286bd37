// The driver of NVIDIA GPUs, over the CUDA runtime.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <memory>

namespace troupe::gpu {

/// Of the GPU with that number, as CUDA counts.
result<std::unique_ptr<driver>> make_cuda_driver(int ordinal);

/// How many GPUs there are; why none can be used is a failure.
result<int> count_cuda_gpus();

} // namespace troupe::gpu
