// Stub of the list of GPUs for builds without CUDA.
#include "troupe/devices/gpu/cuda/cuda.hpp"

namespace troupe {

cuda_devices list_cuda_devices(const std::shared_ptr<device>&, const cuda_choice&) {
  return {.found = {}, .listed = 0, .why_fewer = "This build of Troupe has no CUDA devices."};
}

} // namespace troupe
