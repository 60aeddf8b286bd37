#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"

namespace troupe::ops::sum_cpu {

extern constexpr kernel_def sum_cpu{
    .op = "Sum",
    .run = reduce_kernels<addition>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::sum_cpu
