// NVIDIA GPUs as devices. Without CUDA, devices/no_cuda implements this header.
#pragma once
#include "troupe/runtime/device.hpp"

#include <memory>
#include <vector>

namespace troupe {

/// The GPUs of this machine, or why there are none.
struct cuda_devices {
  std::vector<std::unique_ptr<device>> found;
  std::string why_none; ///< a sentence; empty when there are some
};

/// Never fails: a machine without a GPU, or a build without CUDA, has no such devices.
cuda_devices list_cuda_devices();

} // namespace troupe
