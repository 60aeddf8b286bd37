// A kernel that reduces several arrays in one GPU's memory into one, for devices that share a GPU.
#pragma once
#include "troupe/devices/gpu/cuda/grid.cuda.hpp"
#include "troupe/runtime/device/collective_call.hpp"

#include <span>

namespace troupe::gpu {

/// The maximum of arrays for one launch.
inline constexpr size_t max_combined = 16;

/// Combines the arrays in their order; sums 16-bit numbers in f32.
cudaError_t launch_combine(void* to, std::span<const void* const> from, int64_t count, dtype type,
                           reduction by, bool average, cudaStream_t in);

} // namespace troupe::gpu
