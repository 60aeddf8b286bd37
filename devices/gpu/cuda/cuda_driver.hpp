// The driver of NVIDIA GPUs, over the CUDA runtime.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <memory>

namespace troupe::gpu {

/// Makes the driver of the GPU with this CUDA ordinal.
result<std::unique_ptr<driver>> make_cuda_driver(int ordinal);

/// Counts the GPUs; fails with the reason if CUDA is not usable.
result<int> count_cuda_gpus();

} // namespace troupe::gpu
