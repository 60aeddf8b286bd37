// The substitute for a library of layers on simulated GPUs.
#pragma once
#include "troupe/devices/gpu/core/layers.hpp"

namespace troupe::test {

gpu::layer_library* simulated_layers(); ///< or null
/// Removes the library if null. Not while sessions run.
void use_simulated_layers(gpu::layer_library* new_library);

} // namespace troupe::test
