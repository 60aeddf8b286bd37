// What fuzz targets share.
#pragma once
#include "troupe/ops/all.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

namespace troupe::fuzz {

inline const registry& all_ops() {
  static const registry ops = [] {
    registry made;
    if (!ops::add_all(made).ok())
      std::abort();
    return made;
  }();
  return ops;
}

inline std::span<const std::byte> bytes(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span{data, size});
}

/// Ends the process where a promise is broken.
inline void require(bool kept) {
  if (!kept)
    std::abort();
}

} // namespace troupe::fuzz
