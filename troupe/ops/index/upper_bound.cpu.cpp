#include "troupe/ops/index/shared/search_sorted.cpu.hpp"

namespace troupe::ops::upper_bound_cpu {

extern constexpr kernel_def upper_bound_cpu{
    .op = "UpperBound",
    .run = search_kernels<true>(types::real_numbers),
};

} // namespace troupe::ops::upper_bound_cpu
