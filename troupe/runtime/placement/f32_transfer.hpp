// How floats travel between tasks (white paper 5.5).
#pragma once
#include <cstdint>

namespace troupe {

/// Of what a node of one task gives to one of another. What is fed and fetched is exact.
enum class f32_transfer : uint8_t {
  exact,
  truncated, ///< the upper 16 bits of each f32; the rest is zero: wrong by less than 2^-7 of it
  rounded,   ///< as bf16: wrong by at most 2^-8 of it
};

} // namespace troupe
