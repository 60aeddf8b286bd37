#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::less_cpu {

extern constexpr kernel_def less_cpu{
    .op = "Less",
    .run = comparison_kernels<std::less<>>(types::real_numbers),
};

} // namespace troupe::ops::less_cpu
