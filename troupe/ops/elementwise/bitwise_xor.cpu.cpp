#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::bitwise_xor_cpu {

extern constexpr kernel_def bitwise_xor_cpu{
    .op = "BitwiseXor",
    .run = binary_kernels<std::bit_xor<>>(types::integers),
};

} // namespace troupe::ops::bitwise_xor_cpu
