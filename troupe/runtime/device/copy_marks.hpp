// When a device came to places among the copies that it makes beside its line of launches.
#pragma once
#include "troupe/runtime/device/copy_stream.hpp"

#include <cstdint>

namespace troupe {

/// What a device_clock (accelerator.hpp) may offer beside: its marks may stand among copies, too.
class copy_marks {
public:
  /// Notes the place behind all copies of that kind that were launched before.
  virtual void mark(uint32_t which, copy_stream in) noexcept = 0;

protected:
  ~copy_marks() = default;
};

} // namespace troupe
