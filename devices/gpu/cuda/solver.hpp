// Linear algebra on NVIDIA GPUs, by cuSOLVER and cuBLAS.
#pragma once
#include "troupe/devices/gpu/core/solver.hpp"

namespace troupe::gpu {

/// The device's own; lives as long as it.
result<solver*> cuda_solver(gpu_device& on);

} // namespace troupe::gpu
