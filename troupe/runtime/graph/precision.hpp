// How ops take to floats of 16 bits.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe {

inline constexpr effect autocast_allow = effect::autocast_allow;
inline constexpr effect autocast_infer = effect::autocast_infer;

} // namespace troupe
