// The description of a device for display and for peers.
#pragma once
#include <cstdint>
#include <string>

namespace troupe {

struct device_info {
  std::string name; ///< "/job:local/task:0/device:cpu:0"
  std::string kind; ///< "cpu", "gpu"
  uint64_t memory_bytes = 0;
  std::string description;
};

} // namespace troupe
