#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::greater_equal_cpu {

extern constexpr kernel_def greater_equal_cpu{
    .op = "GreaterEqual",
    .run = comparison_kernels<std::greater_equal<>>(types::real_numbers),
};

} // namespace troupe::ops::greater_equal_cpu
