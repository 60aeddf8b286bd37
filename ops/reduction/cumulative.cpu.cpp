#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"
#include "troupe/ops/reduction/shared/scan.cpu.hpp"

namespace troupe::ops::cumulative_cpu {

extern constexpr kernel_def cumsum_cpu{
    .op = "Cumsum",
    .run = scan_kernels<addition>(types::numbers),
    .prepare = prepare_scan,
};

extern constexpr kernel_def cumprod_cpu{
    .op = "Cumprod",
    .run = scan_kernels<multiplication>(types::numbers),
    .prepare = prepare_scan,
};

} // namespace troupe::ops::cumulative_cpu
