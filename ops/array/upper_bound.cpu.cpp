#include "troupe/ops/array/bounds.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def upper_bound_cpu{
    .op = "UpperBound",
    .run = search_kernels<true>(types::real_numbers),
};

} // namespace troupe::ops
