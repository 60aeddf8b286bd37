#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops::logical_and_cpu {

extern constexpr kernel_def logical_and_cpu{
    .op = "LogicalAnd",
    .run = {{dtype::none, binary<bool, std::logical_and<>>, binary_loop<bool, std::logical_and<>>,
             cheap}},
};

} // namespace troupe::ops::logical_and_cpu
