// Simulated GPUs that compute collectives together (devices/gpu/core/collectives.hpp).
#pragma once
#include "tests/simulated_gpu/simulated_driver.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe::gpu {

/// One of several drivers of one GPU with this number, below 2^32; make_simulated_driver() gives
/// each driver a GPU of its own. Drivers of one GPU exchange by events; others meet: their streams
/// wait for each other, as those of NCCL do, so that launches in different orders deadlock.
std::unique_ptr<simulated_driver> make_simulated_driver_on(int64_t gpu,
                                                           const simulation& options = {});

} // namespace troupe::gpu
