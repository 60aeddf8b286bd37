// GPUs that compute together by NCCL, which is looked for when the first group needs it.
#pragma once
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe::gpu {

/// Introduces GPUs to each other, given by their numbers as CUDA counts; each once. Takes seconds.
result<std::shared_ptr<communicator>> introduce_by_nccl(std::span<const int> gpus);

} // namespace troupe::gpu
