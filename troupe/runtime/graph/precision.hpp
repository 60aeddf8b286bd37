// How ops take to floats of 16 bits. Two more effects, which the mixed-precision pass reads and an
// op's definition declares among the others; apart from op.hpp, which everything includes.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe {

/// Faster with operands of 16 bits, and safe: adds up in f32 and rounds each result once, as
/// products of matrices and convolutions do.
inline constexpr effect autocast_allow{512};

/// As good with values of 16 bits as with f32 where they are in 16 bits already, and wanted so:
/// moves them, chooses among them, or adds few of them.
inline constexpr effect autocast_infer{1024};

} // namespace troupe
