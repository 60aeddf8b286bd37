// The encoding of floats that are sent between tasks (white paper 5.5).
#pragma once
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <string_view>

namespace troupe {

/// Applies to values that a node of one task sends to a node of another. Fed and fetched values are
/// exact. The stated errors hold for normal numbers (from 2^-126 on); smaller numbers may become 0.
/// NaNs and infinities are kept. With `rounded`, numbers above 3.396e38 become infinite.
enum class f32_transfer : uint8_t {
  exact,
  truncated, ///< the upper 16 bits of each f32, other bits zero: relative error below 2^-7
  rounded,   ///< as bf16: relative error at most 2^-8
};

TROUPE_API std::string_view to_string(f32_transfer transfer) noexcept; ///< "rounded"

} // namespace troupe
