// How floats travel between tasks (white paper 5.5).
#pragma once
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <string_view>

namespace troupe {

/// Of what a node of one task gives to one of another. What is fed and fetched is exact. Errors are
/// those of normal numbers (from 2^-126 on); what is smaller may become 0. NaNs and infinities stay
/// what they are; rounded, numbers above 3.396e38 become infinite, too.
enum class f32_transfer : uint8_t {
  exact,
  truncated, ///< the upper 16 bits of each f32; the rest is zero: wrong by less than 2^-7 of it
  rounded,   ///< as bf16: wrong by at most 2^-8 of it
};

TROUPE_API std::string_view to_string(f32_transfer how) noexcept; ///< "rounded"

} // namespace troupe
