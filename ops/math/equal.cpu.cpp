#include "troupe/ops/math/elementwise.cpu.hpp"

#include <functional>

namespace troupe::ops {

extern constexpr kernel_def equal_cpu{
    .op = "Equal",
    .run = comparison_kernels<std::equal_to<>>(types::numbers + types::boolean + types::string),
};

} // namespace troupe::ops
