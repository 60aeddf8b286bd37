// Layers of neural networks on NVIDIA GPUs, by cuDNN.
#pragma once
#include "troupe/devices/gpu/core/layers.hpp"

namespace troupe::gpu {

/// Returns a library that works for all NVIDIA GPUs and lives as long as the program; null if
/// Troupe was built without cuDNN's headers. A missing cuDNN is reported by the first launch.
layer_library* cuda_layers();

} // namespace troupe::gpu
