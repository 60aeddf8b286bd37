// The kernels of GPUs (ops/*/*.cuda.cu), compiled by the processor's compiler.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <span>

namespace troupe::test {

/// What they launch runs on simulated GPUs, and on no others.
std::span<const kernel_def* const> portable_kernels();

} // namespace troupe::test
