// How much a tensor holds.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>

namespace troupe {

/// The bytes of the elements; of strings, also the bytes of their characters.
uint64_t held_bytes(const tensor& of);

} // namespace troupe
