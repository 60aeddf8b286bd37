#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::less_equal_cpu {

extern constexpr kernel_def less_equal_cpu{
    .op = "LessEqual",
    .run = comparison_kernels<std::less_equal<>>(types::real_numbers),
};

} // namespace troupe::ops::less_equal_cpu
