#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::invert_cpu {

extern constexpr kernel_def invert_cpu{
    .op = "Invert",
    .run = unary_kernels<std::bit_not<>>(types::integers),
};

} // namespace troupe::ops::invert_cpu
