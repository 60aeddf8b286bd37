#include "troupe/devices/gpu/cuda/cudnn_layers.hpp"

#if __has_include(<cudnn.h>)

troupe::gpu::layer_library* troupe::gpu::cuda_layers() {
  static cudnn_layers shared_layers;
  return &shared_layers;
}

#else

troupe::gpu::layer_library* troupe::gpu::cuda_layers() { return nullptr; }

#endif
