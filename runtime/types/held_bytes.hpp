// The memory that a tensor's elements take.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>

namespace troupe {

/// Returns the bytes of the elements; for strings, including the bytes of their characters.
uint64_t held_bytes(const tensor& value);

} // namespace troupe
