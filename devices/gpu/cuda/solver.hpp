// Linear algebra on NVIDIA GPUs, by cuSOLVER and cuBLAS.
#pragma once
#include "troupe/devices/gpu/core/solver.hpp"

namespace troupe::gpu {

/// Returns the solver of the device, which lives as long as the device.
result<solver*> cuda_solver(gpu_device& on);

} // namespace troupe::gpu
