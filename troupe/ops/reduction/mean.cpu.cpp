#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"

namespace troupe::ops::mean_cpu {

extern constexpr kernel_def mean_cpu{
    .op = "Mean",
    .run = reduce_kernels<average>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::mean_cpu
