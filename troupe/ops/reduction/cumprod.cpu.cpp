#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"
#include "troupe/ops/reduction/shared/scan.cpu.hpp"

namespace troupe::ops::cumprod_cpu {

extern constexpr kernel_def cumprod_cpu{
    .op = "Cumprod",
    .run = scan_kernels<multiplication>(types::numbers),
    .prepare = prepare_scan,
};

} // namespace troupe::ops::cumprod_cpu
