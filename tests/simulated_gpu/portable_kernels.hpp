// The GPU kernels (ops/*/*.cuda.cu), compiled by the processor's compiler.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <span>

namespace troupe::test {

/// Their launches run on simulated GPUs only.
std::span<const kernel_def* const> portable_kernels();

} // namespace troupe::test
