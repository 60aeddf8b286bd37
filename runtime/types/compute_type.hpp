// The type in which kernels do arithmetic on elements.
#pragma once
#include "troupe/runtime/types/dtype.hpp"

namespace troupe {

/// The arithmetic type of an element type: float for the 16-bit floating types, otherwise itself.
template <class T>
using compute_type =
    std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

template <class T>
inline constexpr bool computes_as_stored = std::is_same_v<T, compute_type<T>>;

} // namespace troupe
