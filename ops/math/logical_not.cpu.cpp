#include "troupe/ops/math/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops {

extern constexpr kernel_def logical_not_cpu{
    .op = "LogicalNot",
    .run = {{dtype::none, unary<bool, std::logical_not<>>, unary_lane<bool, std::logical_not<>>,
             cheap}},
};

} // namespace troupe::ops
