// Several places of one GPU's memory reduced into one: for devices that share a GPU.
#pragma once
#include "troupe/devices/gpu/cuda/grid.cuda.hpp"
#include "troupe/runtime/device/collective_call.hpp"

#include <span>

namespace troupe::gpu {

/// How many places one launch can take.
inline constexpr size_t max_combined = 16;

/// Takes the places in their order; 16-bit numbers are added up in f32.
cudaError_t launch_combine(void* to, std::span<const void* const> from, int64_t count, dtype type,
                           reduction by, bool average, cudaStream_t in);

} // namespace troupe::gpu
