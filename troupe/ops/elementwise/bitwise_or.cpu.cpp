#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::bitwise_or_cpu {

extern constexpr kernel_def bitwise_or_cpu{
    .op = "BitwiseOr",
    .run = binary_kernels<std::bit_or<>>(types::integers),
};

} // namespace troupe::ops::bitwise_or_cpu
