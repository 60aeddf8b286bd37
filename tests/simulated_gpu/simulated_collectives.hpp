// Simulated GPUs that compute together (devices/gpu/core/collectives.hpp).
#pragma once
#include "tests/simulated_gpu/simulated_driver.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe::gpu {

/// One of several drivers of one GPU, which has that number, below 2^32; make_simulated_driver()
/// gives each a GPU of its own. Those on one GPU exchange by events; others meet: their streams
/// wait for each other, as those of NCCL do, so that launches in different orders stand still.
std::unique_ptr<simulated_driver> make_simulated_driver_on(int64_t gpu,
                                                           const simulation& options = {});

} // namespace troupe::gpu
