// What an allocator offers that can tell at any moment how much it has given out.
#pragma once
#include <cstddef>

namespace troupe {

/// Cheap enough to be asked whenever a tensor comes or goes.
class memory_usage_source {
public:
  virtual ~memory_usage_source() = default;
  /// Any thread.
  virtual size_t bytes_in_use() const noexcept = 0;
};

} // namespace troupe
