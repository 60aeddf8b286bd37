#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::bitwise_and_cpu {

extern constexpr kernel_def bitwise_and_cpu{
    .op = "BitwiseAnd",
    .run = binary_kernels<std::bit_and<>>(types::integers),
};

} // namespace troupe::ops::bitwise_and_cpu
