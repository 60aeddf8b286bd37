#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"

namespace troupe::ops::min_cpu {

extern constexpr kernel_def min_cpu{
    .op = "Min",
    .run = reduce_kernels<smallest>(types::real_numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::min_cpu
