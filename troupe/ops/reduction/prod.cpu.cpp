#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"

namespace troupe::ops::prod_cpu {

extern constexpr kernel_def prod_cpu{
    .op = "Prod",
    .run = reduce_kernels<multiplication>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::prod_cpu
