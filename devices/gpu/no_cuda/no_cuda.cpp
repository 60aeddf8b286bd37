// Stub of the list of GPUs for builds without CUDA.
#include "troupe/devices/gpu/cuda/cuda.hpp"

namespace troupe {

cuda_devices list_cuda_devices(const std::shared_ptr<device>&, const cuda_options&) {
  return {.devices = {}, .gpu_count = 0, .reasons = "This build of Troupe has no CUDA devices."};
}

} // namespace troupe
