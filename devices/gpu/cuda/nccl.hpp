// Collective operations of GPUs by NCCL, which is loaded when the first group needs it.
#pragma once
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe::gpu {

/// Connects different GPUs, given by their CUDA ordinals. Takes seconds.
result<std::shared_ptr<communicator>> make_nccl_communicator(std::span<const int> gpus);

} // namespace troupe::gpu
