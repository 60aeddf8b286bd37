#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::greater_cpu {

extern constexpr kernel_def greater_cpu{
    .op = "Greater",
    .run = comparison_kernels<std::greater<>>(types::real_numbers),
};

} // namespace troupe::ops::greater_cpu
