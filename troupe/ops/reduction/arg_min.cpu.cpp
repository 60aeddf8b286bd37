#include "troupe/ops/reduction/shared/arg_extreme.cpu.hpp"

#include <functional>

namespace troupe::ops::arg_min_cpu {

extern constexpr kernel_def arg_min_cpu{
    .op = "ArgMin",
    .run = arg_extreme_kernels<std::less<>>(types::real_numbers + types::boolean),
};

} // namespace troupe::ops::arg_min_cpu
