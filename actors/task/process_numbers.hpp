// What the kernel says of this process.
#pragma once
#include <cstdint>

namespace troupe {

/// Zero for what cannot be read.
struct process_numbers {
  uint64_t resident_bytes = 0, virtual_bytes = 0;
  double cpu_seconds = 0;
  int64_t threads = 0, descriptors = 0, max_descriptors = 0;
  static process_numbers now();
};

} // namespace troupe
