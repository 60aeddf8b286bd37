#include "troupe/ops/elementwise/shared/division.cpu.hpp"

namespace troupe::ops::div_cpu {

extern constexpr kernel_def div_cpu{
    .op = "Div",
    .run = division_kernels<divides>(types::numbers),
};

} // namespace troupe::ops::div_cpu
