// The GPU kernels that cuDNN computes.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <span>

namespace troupe::test {

std::span<const kernel_def* const> cudnn_kernels();

} // namespace troupe::test
