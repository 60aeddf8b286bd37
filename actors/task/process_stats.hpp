// Resource use of this process, as the kernel reports it.
#pragma once
#include <cstdint>

namespace troupe {

/// A number that cannot be read is 0. Any thread may call now().
struct process_stats {
  uint64_t resident_bytes = 0, virtual_bytes = 0;
  double cpu_seconds = 0;
  int64_t threads = 0, descriptors = 0, max_descriptors = 0;
  static process_stats now();
};

} // namespace troupe
