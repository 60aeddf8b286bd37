// The kernel of _Fused, an op that the runtime puts into graphs and that no list of ops names.
#pragma once
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {

extern const kernel_def fused_cpu;

} // namespace troupe::ops
