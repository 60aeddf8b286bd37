#include "troupe/ops/reduction/shared/arg_extreme.cpu.hpp"

#include <functional>

namespace troupe::ops::arg_max_cpu {

extern constexpr kernel_def arg_max_cpu{
    .op = "ArgMax",
    .run = arg_extreme_kernels<std::greater<>>(types::real_numbers + types::boolean),
};

} // namespace troupe::ops::arg_max_cpu
