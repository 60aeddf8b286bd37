#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::logical_not_cpu {

extern constexpr kernel_def logical_not_cpu{
    .op = "LogicalNot",
    .run = {{dtype::none, unary<bool, std::logical_not<>>, unary_loop<bool, std::logical_not<>>,
             cheap}},
};

} // namespace troupe::ops::logical_not_cpu
