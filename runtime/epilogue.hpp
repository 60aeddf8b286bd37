// What may be joined to a product of matrices, so that its library does it while it writes the
// result. More effects, apart from op.hpp, which everything includes.
#pragma once
#include "troupe/runtime/op.hpp"

namespace troupe {

/// Is the product of two matrices as `transpose_a` and `transpose_b` say.
inline constexpr effect is_product{2048};
/// Adds its two inputs, which are stretched to a joint shape.
inline constexpr effect adds{4096};
/// Replaces negative elements by zero.
inline constexpr effect rectifies{8192};

} // namespace troupe
