#include "troupe/ops/elementwise/shared/equality.cpu.hpp"

#include <functional>

namespace troupe::ops::not_equal_cpu {

extern constexpr kernel_def not_equal_cpu{
    .op = "NotEqual",
    .run = equality_kernels<std::not_equal_to<>>(types::numbers + types::boolean + types::string),
    .prepare = cache_attr<bool, "incompatible_shape_error">,
};

} // namespace troupe::ops::not_equal_cpu
