// An interface of allocators that know their current memory usage.
#pragma once
#include <cstddef>

namespace troupe {

/// Cheap enough for a call at each allocation and release of a tensor.
class memory_usage_source {
public:
  virtual ~memory_usage_source() = default;
  /// Any thread may call.
  virtual size_t bytes_in_use() const noexcept = 0;
};

} // namespace troupe
