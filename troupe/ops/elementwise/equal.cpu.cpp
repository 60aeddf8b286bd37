#include "troupe/ops/elementwise/shared/equality.cpu.hpp"

#include <functional>

namespace troupe::ops::equal_cpu {

extern constexpr kernel_def equal_cpu{
    .op = "Equal",
    .run = equality_kernels<std::equal_to<>>(types::numbers + types::boolean + types::string),
    .prepare = cache_attr<bool, "incompatible_shape_error">,
};

} // namespace troupe::ops::equal_cpu
