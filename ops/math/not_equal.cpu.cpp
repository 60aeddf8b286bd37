#include "troupe/ops/math/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops {

extern constexpr kernel_def not_equal_cpu{
    .op = "NotEqual",
    .run = comparison_kernels<std::not_equal_to<>>(types::numbers + types::boolean + types::string),
};

} // namespace troupe::ops
