// The common parts of fuzz targets.
#pragma once
#include "troupe/ops/all.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

/// Begins a target: a function of `data` and `size` that must not crash, whatever they are.
#ifdef TROUPE_LIBFUZZER
#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
#else
#define FUZZ_TARGET(name) extern "C" int fuzz_##name(const uint8_t* data, size_t size)
#endif

namespace troupe::fuzz {

inline const registry& all_ops() {
  static const registry ops = [] {
    registry new_registry;
    if (!ops::add_all(new_registry).ok())
      std::abort();
    return new_registry;
  }();
  return ops;
}

inline std::span<const std::byte> bytes(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span{data, size});
}

/// Ends the process if a promise is broken.
inline void require(bool kept) {
  if (!kept)
    std::abort();
}

} // namespace troupe::fuzz
