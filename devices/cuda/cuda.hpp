// NVIDIA GPUs as devices. Without CUDA, devices/no_cuda implements this header.
#pragma once
#include "troupe/runtime/device.hpp"

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The GPUs of this machine, or why there are none.
struct cuda_devices {
  std::vector<std::shared_ptr<device>> found;
  std::string why_none; ///< a sentence; empty when there are some
};

/// Never fails: a machine without a GPU, or a build without CUDA, has no such devices. All callers
/// in a process share them, as long as anybody holds one; `host` runs what belongs to a GPU's
/// partitions but not on it. Of each GPU's memory, at most that many bytes are used; 0: nine
/// tenths. Who comes later gets what the first has asked for.
cuda_devices list_cuda_devices(const std::shared_ptr<device>& host, size_t memory_limit = 0);

} // namespace troupe
