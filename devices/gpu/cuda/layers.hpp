// Layers of neural networks on NVIDIA GPUs, by cuDNN.
#pragma once
#include "troupe/devices/gpu/core/layers.hpp"

namespace troupe::gpu {

/// Lives as long as the program, and takes any NVIDIA GPU; null where Troupe was built without
/// cuDNN's headers. Whether cuDNN is there turns out with the first launch.
layer_library* cuda_layers();

} // namespace troupe::gpu
