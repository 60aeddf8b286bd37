// What may be joined to a product of matrices or to a convolution.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe {

inline constexpr effect is_product = effect::is_product;
inline constexpr effect adds = effect::adds;
inline constexpr effect rectifies = effect::rectifies;
inline constexpr effect is_convolution = effect::is_convolution;

} // namespace troupe
