#include "troupe/ops/elementwise/shared/division.cpu.hpp"

namespace troupe::ops::real_div_cpu {

extern constexpr kernel_def real_div_cpu{
    .op = "RealDiv",
    .run = division_kernels<divides>(types::numbers),
};

} // namespace troupe::ops::real_div_cpu
