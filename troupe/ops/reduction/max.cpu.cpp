#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"

namespace troupe::ops::max_cpu {

extern constexpr kernel_def max_cpu{
    .op = "Max",
    .run = reduce_kernels<largest>(types::real_numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::max_cpu
