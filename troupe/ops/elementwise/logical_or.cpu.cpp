#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::logical_or_cpu {

extern constexpr kernel_def logical_or_cpu{
    .op = "LogicalOr",
    .run = {{dtype::none, binary<bool, std::logical_or<>>, binary_loop<bool, std::logical_or<>>,
             cheap}},
};

} // namespace troupe::ops::logical_or_cpu
