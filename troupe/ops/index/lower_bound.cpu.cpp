#include "troupe/ops/index/shared/search_sorted.cpu.hpp"

namespace troupe::ops::lower_bound_cpu {

extern constexpr kernel_def lower_bound_cpu{
    .op = "LowerBound",
    .run = search_kernels<false>(types::real_numbers),
};

} // namespace troupe::ops::lower_bound_cpu
