#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::logical_cpu {

extern constexpr kernel_def logical_and_cpu{
    .op = "LogicalAnd",
    .run = {{dtype::none, binary<bool, std::logical_and<>>, binary_loop<bool, std::logical_and<>>,
             cheap}},
};

extern constexpr kernel_def logical_or_cpu{
    .op = "LogicalOr",
    .run = {{dtype::none, binary<bool, std::logical_or<>>, binary_loop<bool, std::logical_or<>>,
             cheap}},
};

extern constexpr kernel_def logical_not_cpu{
    .op = "LogicalNot",
    .run = {{dtype::none, unary<bool, std::logical_not<>>, unary_loop<bool, std::logical_not<>>,
             cheap}},
};

} // namespace troupe::ops::logical_cpu
