// What the kernels of Select and SelectV2 share on GPUs.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct wide_element {
  uint64_t words[2];
};

/// Calls the body with a std::type_identity of a type that has so many bytes.
template <class Body>
status with_width(size_t bytes, Body&& body) {
  switch (bytes) {
    case 1: return body(std::type_identity<uint8_t>{});
    case 2: return body(std::type_identity<uint16_t>{});
    case 4: return body(std::type_identity<uint32_t>{});
    case 8: return body(std::type_identity<uint64_t>{});
    default: return body(std::type_identity<wide_element>{});
  }
}

struct choice {
  template <class T>
  TROUPE_DEVICE T operator()(bool chosen, const T& yes, const T& no) const {
    return chosen ? yes : no;
  }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
