// What may be joined to a product of matrices or to a convolution, so that its library does it
// while it writes the result. More effects, apart from op.hpp, which everything includes.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe {

/// Is the product of two matrices as `transpose_a` and `transpose_b` say, or of batches of them as
/// `adj_x` and `adj_y` say; with effect::broadcasting, what stands before the matrices is
/// stretched.
inline constexpr effect is_product{2048};
/// Adds its two inputs, which are stretched to a joint shape; where it has a `data_format`, the
/// second has one number for each channel of the first.
inline constexpr effect adds{4096};
/// Replaces negative elements by zero.
inline constexpr effect rectifies{8192};
/// Is the 2-D convolution of images with a filter, as its attributes say, which are Conv2D's.
inline constexpr effect is_convolution{16384};

} // namespace troupe
